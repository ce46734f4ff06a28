"""a100 as an image, built on the host from vLLM's official one with the same patches.

Set image_base_digest beside the host: the digest of the tag below, as your registry shows it.
See docs/routes/a100_docker.md.
"""

from glmstead.routes import route_data as _route_data

globals().update(_route_data("a100"))

system_packages = ["ca-certificates", "python3-venv"]
system_disk_free_gb = 120.0

engine_kind = "container"
engine_python = "3.11"  # of the gateway beside it; the image brings its own
container_runtime = "docker"
image_source = "build"
image_name = "glmstead/vllm-a100"
image_base_name = "vllm/vllm-openai"
image_tag = "v0.23.0-cu129"  # CUDA 12.9: an older driver will do
driver_minimum = "575.51"
image_shm_gb = 64.0
image_cache_mounts = ["/root/.cache"]
