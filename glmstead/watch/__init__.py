"""The watch: runs on every host under its plain python3, standard library only."""
