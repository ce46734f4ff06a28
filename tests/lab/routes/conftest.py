"""One real host with real Docker, and images that stand in for the routes' own."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from glmstead.lab.config import LabConfig
from glmstead.lab.state import read_lab
from tests.lab.conftest import Deployed

HERE = Path(__file__).parent
NAME, SUBNET = "rts", "10.77.50.0/24"
HOST = f"{NAME}1"
REPOSITORY = "localhost:5000/stand-in/vllm"
# What no host of a lab has, and the nano checkpoint instead of the route's own
ON_CPU: dict[str, Any] = {
    "gpu_count": 0,
    "ray_gpus_per_host": 4,
    "gpu_model": None,
    "driver_source": "none",
    "container_toolkit": False,
    "engine_find_links": ["/srv/wheels"],
    "engine_offline": True,
    "model_name": "glm-nano",
    "model_source": "controller",
    "model_directory": "files/models/glm-nano",
    "model_repo": None,
    "model_size_gb": 0.015,
    "model_attention_heads": 8,
    "model_quantization": None,
    "system_memory_gb": 1.0,
    "system_disk_free_gb": 4.0,
    "image_shm_gb": 0.1,
    "engine_python": "3.11",
    "image_ulimits": {"stack": 8388608, "nofile": 4096},  # a lab's host cannot raise limits
    "vllm_load_timeout_s": 60,
    "vllm_max_model_len": 8192,
    "vllm_tensor_parallel_size": 4,
    "smoke_enabled": False,  # the stand-in knows one answer
    "smoke_gate": False,
}
Inventories = Callable[..., Path]


@pytest.fixture(scope="session")
def lab() -> Iterator[Deployed]:
    """A fresh host with Docker, a registry of its own, and two versions of the stand-in there."""
    env = {**os.environ, "GLMSTEAD_LAB_NAME": NAME, "GLMSTEAD_LAB_SUBNET": SUBNET}
    keep = bool(os.environ.get("GLMSTEAD_KEEP_LAB"))
    found = Deployed(env, demo=[])
    words = ["glmstead", "lab", "up", "--hosts", "1", *([] if keep else ["--fresh"])]
    up = found.run(*words, timeout_s=600)
    assert up.returncode == 0, up.stdout + up.stderr
    try:
        prepare(found)
        yield found
    finally:
        if not keep:
            found.run("glmstead", "lab", "down", timeout_s=300)


def prepare(lab: Deployed) -> None:
    """Docker's packages and the images; digests are written to /root/digests."""
    lab.send(HOST, HERE, "/root/stand-in")
    install = "DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends"
    lab.ssh(
        HOST,
        f"apt-get update -qq && {install} docker.io docker-registry curl >/dev/null 2>&1; "
        "cp /root/stand-in/registry.yml /etc/docker/registry/config.yml; "
        "systemctl start docker; systemctl restart docker-registry; "
        "until curl -s http://127.0.0.1:5000/v2/ >/dev/null; do sleep 0.2; done",
        timeout_s=400,
    )
    lab.ssh(
        HOST,
        "docker image inspect stand-in-base >/dev/null 2>&1 || "
        "tar -c -C / --exclude=usr/share/doc --exclude=usr/share/locale --exclude=usr/sbin "
        "bin lib lib64 etc usr | docker import - stand-in-base",
        timeout_s=300,
    )
    lab.ssh(
        HOST,
        "cd /root/stand-in && rm -f /root/digests && for v in 1 2; do "
        f"docker build -q --build-arg VERSION=$v -t {REPOSITORY}:$v . && "
        f"docker push -q {REPOSITORY}:$v && docker image inspect -f "
        f"'{{{{index .RepoDigests 0}}}} {{{{.Id}}}}' {REPOSITORY}:$v >>/root/digests; done",
        timeout_s=300,
    )


def fetch(lab: Deployed, path: str, target: Path) -> Path:
    """Copy a file of the host to this machine."""
    glmstead = str(Path(sys.executable).with_name("glmstead"))
    words = [glmstead, "lab", "ssh", HOST, f"cat {path}"]
    with target.open("wb") as file:
        subprocess.run(words, env=lab.env, stdin=subprocess.DEVNULL, stdout=file, check=True)
    return target


@pytest.fixture(scope="session")
def digests(lab: Deployed) -> list[tuple[str, str]]:
    """``(manifest digest, image id)`` of version 1 and version 2."""
    rows = [line.split() for line in lab.ssh(HOST, "cat /root/digests").splitlines()]
    return [(reference.partition("@")[2], image) for reference, image in rows]


@pytest.fixture
def inventory(lab: Deployed, tmp_path_factory: pytest.TempPathFactory) -> Inventories:
    """Write an inventory of the lab's host in a route, with data beside it."""

    def write(route: str, **data: Any) -> Path:
        config = LabConfig.from_environment(lab.env)
        up = read_lab(config)
        assert up is not None
        (host,) = up.hosts
        connection = {
            "cluster_address": host.address,
            "cluster_interface": host.interface,
            "ssh_hostname": host.address,
            "ssh_user": "root",
            "ssh_key": str(up.ssh_key),
            "ssh_known_hosts_file": str(up.known_hosts),
            "ssh_allow_agent": False,
            "ssh_look_for_keys": False,
        }
        stand_in = {} if route == "lab" else ON_CPU
        member = (HOST, {**connection, **stand_in, **data})
        path = tmp_path_factory.mktemp("inventory") / "one.py"
        lines = {"head": [member], "gateway": [HOST], route: [HOST]}
        path.write_text("".join(f"{name} = {value!r}\n" for name, value in lines.items()))
        return path

    return write
