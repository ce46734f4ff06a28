"""Where things lie on a host; one name a place, so that a path is written once."""

CONFIG = "/etc/glmstead"
LIBEXEC = "/opt/glmstead/libexec"
CACHE = "/var/cache/glmstead"
RAY_TEMP = "/var/lib/glmstead/ray"
RAY_TOKEN = f"{CONFIG}/ray-token"
ENGINE_ENV = f"{CONFIG}/engine.env"
PATCHES = f"{CONFIG}/patches.json"
MODEL_MANIFEST = f"{CONFIG}/model.sha256"
VLLM_CONFIG = f"{CONFIG}/vllm.yaml"
GATEWAY_CONFIG = f"{CONFIG}/litellm.yaml"
GATEWAY_ENV = f"{CONFIG}/gateway.env"
UNITS = "/etc/systemd/system"

PATCH_GUARD = f"{LIBEXEC}/guard.py"

RAY_HEAD = "glmstead-ray-head"
RAY_WORKER = "glmstead-ray-worker"
VLLM = "glmstead-vllm"
GATEWAY = "glmstead-gateway"
ENGINE_UNITS = (RAY_HEAD, RAY_WORKER, VLLM)
