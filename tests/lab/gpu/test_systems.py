"""The driver task on the other systems it is for: their apt, dpkg, systemd, their packages' names.

What depends on no distribution (locks, keys, kernels without a module) is in test_driver.py.
"""

import pytest

from tests.lab.gpu.driver_host import DriverHost
from tests.lab.gpu.machines import Machines

NAMES = {
    "trixie": ("amd64", "nvidia-kernel-open-dkms nvidia-driver-cuda nvidia-persistenced"),
    "jammy": ("generic", "nvidia-headless-580-open nvidia-utils-580 nvidia-compute-utils-580"),
    "noble": ("generic", "nvidia-headless-580-open nvidia-utils-580 nvidia-compute-utils-580"),
}
pytestmark = [
    pytest.mark.lab,
    pytest.mark.parametrize("machines", NAMES, indirect=True, scope="session"),
]


@pytest.fixture(scope="module")
def host(machines: Machines) -> DriverHost:
    """A bare host of the suite, with an old kernel."""
    one, (flavour, _) = DriverHost(machines), NAMES[machines.suite]
    kernels = (f"linux-image-6.1.0-22-{flavour}", f"linux-image-{flavour}")
    old = " ".join(f"{name}_6.1.99-1_amd64.deb" for name in kernels)
    one.prepare(old, "580.159.03")
    return one


def test_exactly_the_declared_version_is_installed_built_and_held(
    host: DriverHost, machines: Machines
) -> None:
    assert "The kernel runs the driver" in host.deploy().changed

    versions = host.versions()
    for name in NAMES[machines.suite][1].split():
        assert versions[name].startswith("580.159.03-")
    assert host.ssh("cat /lib/modules/*/updates/dkms/nvidia.ko") == "580.159.03\n580.159.03"
    assert host.ssh("apt-mark showhold").split() == sorted(versions)
    assert host.ssh("systemctl is-active nvidia-persistenced") == "active"
    assert host.deploy().changed == []


def test_newer_drivers_and_kernels_move_nothing(host: DriverHost) -> None:
    before = host.versions()
    host.publish("580.159.04", "590.48.01", "615.71.09")

    assert host.moves() == []
    assert host.deploy().changed == []
    host.ssh("DEBIAN_FRONTEND=noninteractive apt-get -y -qq dist-upgrade >/dev/null 2>&1")
    assert host.versions() == before


def test_without_protection_they_would_and_a_deploy_brings_it_back(
    host: DriverHost, machines: Machines
) -> None:
    host.ssh(
        "apt-mark unhold '*' >/dev/null; mv /etc/apt/preferences.d/00-glmstead-* "
        "/etc/apt/apt.conf.d/60glmstead-unattended-upgrades /root"
    )

    moved = host.moves()

    flavour, names = NAMES[machines.suite]
    for name in (names.split()[0], f"linux-image-{flavour}"):
        assert name in moved
    assert "Driver and kernel are held" in host.deploy().changed
    assert host.moves() == []


def test_another_branch_replaces_it_in_one_transaction(
    host: DriverHost, machines: Machines
) -> None:
    """Ubuntu's names lose their branch with 590, so that each package is another one."""
    assert "Driver 590.48.01" in host.deploy(driver_version="590.48.01").changed
    drivers = {n: v for n, v in host.versions().items() if not n.startswith("linux-")}
    assert {v.split("-")[0] for v in drivers.values()} == {"590.48.01"}

    assert "Driver 580.159.03" in host.deploy().changed  # and back
    drivers = {n: v for n, v in host.versions().items() if not n.startswith("linux-")}
    assert {v.split("-")[0] for v in drivers.values()} == {"580.159.03"}
