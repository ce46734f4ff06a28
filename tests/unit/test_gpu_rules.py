"""Rules about GPUs, driver and compiler that need no host, in their exact words."""

from pathlib import Path

import pytest

from glmstead.settings.rules import gpu
from tests.unit.conftest import Data, Refusals

RULES: dict[str, tuple[Data, list[str]]] = {
    "a rank a GPU": (
        {"gpu_count": 4},
        ["gpu_count: 4: ray_gpus_per_host is 8; fix: set gpu_count to 8"],
    ),
    "GPUs without a driver": (
        {"driver_source": "none"},
        [
            'driver_source: "none": there are GPUs, which need a driver; '
            "fix: set driver_source to image or apt"
        ],
    ),
    "a driver without its version": (
        {"driver_source": "apt"},
        [
            "driver_version: null: a version is pinned with driver_source apt; "
            "fix: give the full version, such as 580.159.04"
        ],
    ),
    "a version known to be bad": (
        {"driver_source": "apt", "driver_version": "595.58.03"},
        [
            'driver_version: "595.58.03": known to be bad: it fails at start '
            "(NVIDIA/open-gpu-kernel-modules#1104); fix: use another version"
        ],
    ),
    "a driver older than needed": (
        {"driver_source": "apt", "driver_version": "570.133.20"},
        [
            'driver_version: "570.133.20": older than driver_minimum; fix: use 580.65 or newer',
        ],
    ),
    "a mirror without a scheme": (
        {"driver_repository": "mirror.site/nvidia", "driver_key_url": "mirror.site/key.pub"},
        [
            'driver_repository: "mirror.site/nvidia": not of the right form; fix: give the apt '
            "repository (a mirror) instead of NVIDIA's, as https://mirror.site/nvidia",
            'driver_key_url: "mirror.site/key.pub": not of the right form; fix: give the '
            "address of its signing key, as https://...; None: NVIDIA's",
        ],
    ),
    "closed modules for boards that need open ones": (
        {"driver_packages": ["nvidia-driver-580"]},
        [
            'driver_packages: ["nvidia-driver-580"]: none brings the open kernel modules, which '
            "compute capability 12.0 needs; fix: name an -open package, or leave it empty"
        ],
    ),
    "trials beyond the last port": (
        {"nccl_trial_port": 65530},
        [
            "nccl_trial_port: 65530: must be less than or equal to 65496; fix: give the first port "
            "of the trials, 40 of them, such as 29600"
        ],
    ),
    "A24 the empty metapackage": (
        {"driver_packages": ["cuda-drivers"]},
        [
            'driver_packages: "cuda-drivers": installs closed kernel modules, or nothing; '
            "fix: use nvidia-open"
        ],
    ),
    "B7 a toolkit too old for the architecture": (
        {"cuda_source": "apt", "cuda_version": "12.8"},
        ['cuda_version: "12.8": too old for sm_120a; fix: use 12.9 or newer'],
    ),
    "B9 a toolkit newer than the driver": (
        {"cuda_source": "apt", "cuda_version": "13.2"},
        [
            'cuda_version: "13.2": a driver 580.65 refuses what CUDA 13.2 makes; '
            "fix: set driver_minimum to 595 or newer"
        ],
    ),
    "a compiler beside the wheels that are locked": (
        {"cuda_version": "12.9"},
        [
            f'cuda_version: "12.9": the lock has {package}: headers and compiler must be one '
            f"release; fix: pin {package.split()[0]}==12.9.* and run scripts/lock"
            for package in (
                "nvidia-cuda-nvcc 13.0.88",
                "nvidia-cuda-crt 13.0.88",
                "nvidia-cuda-cccl 13.0.85",
                "nvidia-cuda-runtime 13.0.96",
                "nvidia-nvvm 13.0.88",
            )
        ],
    ),
    "an architecture nobody builds": (
        {"cuda_architecture": "sm_70"},
        [
            'cuda_architecture: "sm_70": unknown here; fix: use one of sm_80, sm_90, sm_90a, '
            "sm_100a, sm_120, sm_120a, sm_120f"
        ],
    ),
}


@pytest.mark.parametrize(("data", "lines"), RULES.values(), ids=RULES)
def test_a_rule_of_gpus_is_kept(refusals: Refusals, data: Data, lines: list[str]) -> None:
    assert refusals(route="g4", hosts=2, data=data) == [
        f"@fake/{host}: {line}" for host in ("h1", "h2") for line in lines
    ]


def test_B8_flashinfers_parts_are_of_one_release(
    refusals: Refusals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = (
        "flashinfer-python==0.6.16.post3",
        "flashinfer-cubin==0.6.16",
        "flashinfer-jit-cache==",
    )
    lines = [*parts[:2], parts[2] + "0.6.16.post3+cu130"]
    lock = tmp_path / "g4.txt"
    lock.write_text("".join(f"{line} \\\n    --hash=sha256:00\n" for line in lines))
    monkeypatch.setattr(gpu, "lock_path", lambda name: lock)

    assert (
        '@fake/h1: engine_lock: "g4": the lock has flashinfer-cubin 0.6.16 beside '
        "flashinfer-python 0.6.16.post3; fix: pin flashinfer-cubin==0.6.16.post3 and run "
        "scripts/lock"
    ) in refusals(route="g4")
    assert not [line for line in refusals(route="g4") if "flashinfer-jit-cache" in line]


def test_B1_a_cuda_home_of_ones_own_is_refused(refusals: Refusals) -> None:
    env = {"CUDA_HOME": ":/usr/local/cuda-12.8"}

    assert refusals(route="g4", data={"engine_env": env})[:2] == [
        '@fake/h1: engine_env.CUDA_HOME: ":/usr/local/cuda-12.8": not one absolute folder; '
        "fix: give one absolute folder, the one that holds bin/nvcc",
        '@fake/h1: engine_env.CUDA_HOME: ":/usr/local/cuda-12.8": cuda_source is set too; '
        "fix: remove it, cuda_source sets it",
    ]


def test_the_lab_has_no_gpus_and_no_rule_minds(refusals: Refusals) -> None:
    assert refusals(data={"cuda_version": "12.8"}) == []
