"""nvcc of the wheels builds kernels on a real host without a GPU, as the service user."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from glmstead import ROOT
from glmstead.lock import lock_path

pytestmark = pytest.mark.lab

HERE = Path(__file__).parent
LAB = {"GLMSTEAD_LAB_NAME": "gpucc", "GLMSTEAD_LAB_SUBNET": "10.77.53.0/24"}
Deploy = Callable[..., list[str] | str]
PARTS = r"nvidia-cuda-(?:nvcc|crt|cccl|runtime)|nvidia-nvvm|ninja"
ROUTE = {"gpu_count": 0, "driver_source": "none", "cluster_mtu": None}


def run(*words: str, stdin: str = "") -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [str(Path(sys.executable).parent / words[0]), *words[1:]],
        env={**os.environ, **LAB, "PYTHONPATH": str(ROOT)},
        cwd=ROOT,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def ssh(command: str, stdin: str = "") -> str:
    done = run("glmstead", "lab", "ssh", "gpucc1", command, stdin=stdin)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module", autouse=True)
def host() -> Iterator[None]:
    """A host with the service user, g++, and the compiler's wheels as g4's lock pins them."""
    up = run("glmstead", "lab", "up", "--hosts", "1", "--no-wheels")
    assert up.returncode == 0, up.stderr
    pins = re.findall(rf"^(?:{PARTS})==[0-9.]+", lock_path("g4").read_text(), re.M)
    ssh(
        "export DEBIAN_FRONTEND=noninteractive; apt-get update -qq && apt-get install -y -qq "
        "--no-install-recommends g++ python3-venv >/dev/null 2>&1; useradd --system glmstead; "
        "python3 -m venv /opt/glmstead/engine && /opt/glmstead/engine/bin/pip install --quiet "
        "--no-deps --disable-pip-version-check -r /dev/stdin",
        stdin="\n".join(pins),
    )
    yield
    run("glmstead", "lab", "down")


@pytest.fixture
def deploy(tmp_path: Path) -> Deploy:
    def run_it(**changed: object) -> list[str] | str:
        """Names of the operations that changed something, or what was said on refusal."""
        lab = Path("/var/lib/glmstead-gpucc")
        data = {
            "cluster_address": "10.77.53.11",
            "cluster_interface": "host0",
            "ssh_hostname": "10.77.53.11",
            "ssh_user": "root",
            "ssh_key": str(lab / "id_ed25519"),
            "ssh_known_hosts_file": str(lab / "known_hosts"),
            "vllm_tensor_parallel_size": 8,
            **ROUTE,
            **changed,
        }
        inventory = tmp_path / "one.py"
        inventory.write_text(
            f"head = g4 = [('gpucc1', {data!r})]\nworker = []\ngateway = ['gpucc1']\n"
        )
        done = run("pyinfra", "-y", "--json", str(inventory), str(HERE / "only_compiler.py"))
        if done.returncode:
            return done.stdout + done.stderr
        operations = json.loads(done.stdout)["results"]["operations"]
        return [one["name"] for one in operations if one["success"]]

    return run_it


def receipt() -> dict[str, object]:
    found: dict[str, object] = json.loads(ssh("cat /etc/glmstead/toolchain.json"))
    return found


@pytest.mark.parametrize("architecture", ["sm_120a", "sm_90a", "sm_80"])
def test_a_kernel_is_built_for_the_routes_gpus(deploy: Deploy, architecture: str) -> None:
    assert f"CUDA check | A kernel for {architecture}" in deploy(cuda_architecture=architecture)

    assert receipt()["architecture"] == architecture
    assert (receipt()["nvcc"], receipt()["ran"]) == ("13.0", False)
    assert deploy(cuda_architecture=architecture) == []


def test_a_damaged_home_is_mended(deploy: Deploy) -> None:
    deploy()
    ssh("rm /opt/glmstead/cuda/lib64/libcudart.so")

    assert deploy() == ["CUDA compiler | CUDA 13.0 of the engine's wheels"]


def test_a_compiler_the_service_user_cannot_start_is_refused(deploy: Deploy) -> None:
    ssh("rm /etc/glmstead/toolchain.json; chmod 700 /opt/glmstead/engine/bin/ninja")
    said = deploy()
    ssh("chmod 755 /opt/glmstead/engine/bin/ninja")

    assert "no ninja on PATH (/opt/glmstead/engine/bin:/opt/glmstead/cuda/bin:" in said
    assert "install ninja, in the engine's lock" in said


def test_headers_of_another_release_are_refused(deploy: Deploy) -> None:
    """As a lock that lets nvcc and the runtime drift apart would have it."""
    ssh(
        "/opt/glmstead/engine/bin/pip install --quiet --no-deps --disable-pip-version-check "
        "nvidia-cuda-nvcc==13.5.37 nvidia-cuda-crt==13.5.37 nvidia-nvvm==13.5.37"
    )

    assert (
        "sm_120a cannot be built: /opt/glmstead/cuda/bin/../include/cccl/cuda/std/__cccl/"
        "cuda_toolkit.h"
    ) in deploy()
