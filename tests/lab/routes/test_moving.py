"""A host moved from an image to Ray with the real engine, and back: nothing is left behind."""

import pytest

from tests.lab.conftest import Deployed
from tests.lab.routes.conftest import HOST, REPOSITORY, Inventories

pytestmark = [pytest.mark.lab, pytest.mark.slow]
RAY_PATHS = ["/opt/glmstead/engine", "/etc/glmstead/ray-token", "/etc/glmstead/patches.json"]


def exists(lab: Deployed, path: str) -> bool:
    return lab.ssh(HOST, f"test -e {path} && echo yes || echo no") == "yes"


def units(lab: Deployed) -> set[str]:
    found = lab.ssh(HOST, "ls /etc/systemd/system").split()
    return {name for name in found if name.startswith("glmstead")}


def test_there_and_back_again(
    lab: Deployed, inventory: Inventories, digests: list[tuple[str, str]]
) -> None:
    image = inventory("b12x4", image_name=REPOSITORY, image_digest=digests[0][0])
    lab.deploy(image)
    common = units(lab) - {"glmstead-engine.slice"}
    before = lab.ssh(HOST, "sha256sum /etc/glmstead/gateway.env /var/lib/glmstead/models/*/*.json")

    ray = inventory("lab", smoke_enabled=False)
    lab.deploy(ray)

    assert units(lab) == {*common, "glmstead-ray-head.service"}
    assert lab.ssh(HOST, "docker ps -aq | wc -l") == "0"
    assert digests[0][0] not in lab.ssh(HOST, "docker images --digests --format '{{.Digest}}'")
    assert [path for path in RAY_PATHS if not exists(lab, path)] == []
    assert not exists(lab, "/var/cache/glmstead/image")
    assert lab.ssh(HOST, "systemctl is-active glmstead-vllm glmstead-gate") == "active\nactive"
    assert lab.deploy(ray) == {}

    lab.deploy(image)

    assert units(lab) == {*common, "glmstead-engine.slice"}
    assert [path for path in RAY_PATHS if exists(lab, path)] == []
    assert lab.ssh(HOST, "pgrep -c raylet || true") == "0"
    after = lab.ssh(HOST, "sha256sum /etc/glmstead/gateway.env /var/lib/glmstead/models/*/*.json")
    assert after == before
    assert lab.deploy(image) == {}


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
