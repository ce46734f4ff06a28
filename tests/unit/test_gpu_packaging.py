"""What apt is asked for, by distribution and branch."""

from typing import Any

import pytest

from glmstead.gpu import packaging
from glmstead.gpu.driver import is_driver_package, is_kernel_package
from glmstead.gpu.read import gpu_host
from glmstead.gpu.values import GpuHost
from glmstead.settings.sections import DriverSettings
from tests.gpu_samples import ok, packages, raw_host

NVIDIA = "https://developer.download.nvidia.com/compute/cuda/repos"


def driver(version: str = "580.159.04", **changed: Any) -> DriverSettings:
    return DriverSettings(source="apt", version=version, **changed)


def ubuntu(installed: str) -> GpuHost:
    raw = raw_host()
    return gpu_host({**raw, "apt": {**raw["apt"], "packages": ok(installed)}})


@pytest.mark.parametrize(
    ("system", "machine", "uri", "key"),
    [
        (("debian", "12"), "x86_64", "debian12/x86_64/", "3bf863cc.pub"),
        (("debian", "13"), "x86_64", "debian13/x86_64/", "8793F200.pub"),
        (("ubuntu", "22.04"), "x86_64", "ubuntu2204/x86_64/", "3bf863cc.pub"),
        (("ubuntu", "24.04"), "aarch64", "ubuntu2404/sbsa/", "3bf863cc.pub"),
    ],
)
def test_each_system_has_its_repository(
    system: tuple[str, str], machine: str, uri: str, key: str
) -> None:
    found = packaging.repository(driver(), system, machine)

    assert (found.uri, found.key_url) == (f"{NVIDIA}/{uri}", f"{NVIDIA}/{uri}{key}")
    assert (found.fingerprint is None) == (system == ("debian", "13"))


def test_a_mirror_takes_its_place() -> None:
    found = packaging.repository(driver(repository="https://mirror/nv"), ("debian", "12"), "x86_64")

    assert found.text == (
        "Types: deb\nURIs: https://mirror/nv/\nSuites: /\n"
        "Signed-By: /usr/share/keyrings/glmstead-nvidia-3bf863cc.gpg\n"
    )


@pytest.mark.parametrize(
    ("system", "version", "names"),
    [
        ("debian", "580.159.04", "nvidia-kernel-open-dkms nvidia-driver-cuda nvidia-persistenced"),
        (
            "ubuntu",
            "580.159.04",
            "nvidia-headless-580-open nvidia-utils-580 nvidia-compute-utils-580",
        ),
        ("ubuntu", "590.48.01", "nvidia-headless-open nvidia-utils nvidia-compute-utils"),
    ],
)
def test_the_open_modules_have_a_name_in_every_scheme(
    system: str, version: str, names: str
) -> None:
    assert packaging.driver_packages(driver(version), (system, "")) == names.split()


def test_A13_an_old_branch_leaves_in_the_transaction_that_brings_the_new_one() -> None:
    words = packaging.transaction(ubuntu(packages("570.133.20", branch="-570")), driver())

    assert words == [
        *("nvidia-headless-580-open", "nvidia-utils-580", "nvidia-compute-utils-580"),
        *("dkms", "linux-headers-6.8.0-1060-gcp"),
        *("libnvidia-compute-570-", "nvidia-utils-570-", "nvidia-dkms-570-open-"),
    ]


def test_back_from_590_the_names_without_a_branch_leave() -> None:
    words = packaging.transaction(ubuntu(packages("590.48.01", branch="")), driver())

    assert words[-3:] == ["libnvidia-compute-", "nvidia-utils-", "nvidia-dkms-open-"]


@pytest.mark.parametrize(
    "name",
    [
        "libnvidia-container1",
        "nvidia-container-toolkit",
        "libnvidia-egl-wayland1",
        "nvidia-cuda-toolkit",
        "cuda-toolkit-13-0",
        "linux-libc-dev",
        "linux-base",
    ],
)
def test_what_only_shares_a_prefix_is_free_to_move(name: str) -> None:
    assert not is_driver_package(name)
    assert not is_kernel_package(name)


@pytest.mark.parametrize(
    "name", ["libnvidia-common-460", "nvidia-fabricmanager-580", "nvidia-firmware-580-580.159.04"]
)
def test_A5_A11_every_part_of_the_driver_stays(name: str) -> None:
    assert is_driver_package(name)
