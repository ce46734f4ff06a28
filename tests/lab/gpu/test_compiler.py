"""nvcc of the wheels builds kernels on a real host without a GPU, as the service user."""

import json
import re

import pytest

from glmstead.lock import lock_path
from tests.lab.gpu.machines import Machines, Outcome

pytestmark = pytest.mark.lab

PARTS = r"nvidia-cuda-(?:nvcc|crt|cccl|runtime)|nvidia-nvvm|ninja"
PIP = "/opt/glmstead/engine/bin/pip install --quiet --no-deps --disable-pip-version-check"


class Compiler:
    """Host 2 with the service user, g++, and the compiler's wheels as g4's lock pins them."""

    def __init__(self, machines: Machines) -> None:
        self.machines = machines
        machines.install(2, "g++", "python3-venv")
        self.ssh("useradd --system glmstead; python3 -m venv /opt/glmstead/engine")
        pins = re.findall(rf"^(?:{PARTS})==[0-9.]+", lock_path("g4").read_text(), re.M)
        self.ssh(f"{PIP} -r /dev/stdin", stdin="\n".join(pins))

    def ssh(self, command: str, stdin: str = "") -> str:
        return self.machines.ssh(2, command, stdin)

    def deploy(self, **changed: object) -> Outcome:
        none = {"gpu_count": 0, "driver_source": "none", "cluster_mtu": None}
        data = {"vllm_tensor_parallel_size": 8, **none, **changed}
        return self.machines.deploy("only_compiler.py", 2, route="g4", data=data)

    def receipt(self) -> dict[str, object]:
        found: dict[str, object] = json.loads(self.ssh("cat /etc/glmstead/toolchain.json"))
        return found


@pytest.fixture(scope="module")
def host(machines: Machines) -> Compiler:
    return Compiler(machines)


@pytest.mark.parametrize("architecture", ["sm_120a", "sm_90a", "sm_80"])
def test_a_kernel_is_built_for_the_routes_gpus(host: Compiler, architecture: str) -> None:
    assert f"A kernel for {architecture}" in host.deploy(cuda_architecture=architecture).changed

    receipt = host.receipt()
    assert receipt["architecture"] == architecture
    assert (receipt["nvcc"], receipt["ran"]) == ("13.0", False)
    assert host.deploy(cuda_architecture=architecture).changed == []


def test_a_damaged_home_is_mended(host: Compiler) -> None:
    host.deploy()
    host.ssh("rm /opt/glmstead/cuda/lib64/libcudart.so")

    assert host.deploy().changed == ["CUDA 13.0 of the engine's wheels"]


def test_a_compiler_the_service_user_cannot_start_is_refused(host: Compiler) -> None:
    host.ssh("rm /etc/glmstead/toolchain.json; chmod 700 /opt/glmstead/engine/bin/ninja")
    said = host.deploy().said
    host.ssh("chmod 755 /opt/glmstead/engine/bin/ninja")

    assert "no ninja on PATH (/opt/glmstead/engine/bin:/opt/glmstead/cuda/bin:" in said
    assert "install ninja, in the engine's lock" in said


def test_headers_of_another_release_are_refused(host: Compiler) -> None:
    """As a lock that lets nvcc and the runtime drift apart would have it."""
    newer = "nvidia-cuda-nvcc==13.5.37 nvidia-cuda-crt==13.5.37 nvidia-nvvm==13.5.37"
    host.ssh(f"{PIP} {newer}")

    assert (
        "sm_120a cannot be built: /opt/glmstead/cuda/bin/../include/cccl/cuda/std/__cccl/"
        "cuda_toolkit.h"
    ) in host.deploy().said
