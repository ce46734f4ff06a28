"""What a deploy does, one @deploy function a file: sequence only, the logic is in ``glmstead``."""
