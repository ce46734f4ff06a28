"""The driver task with real apt, dpkg, systemd, unattended-upgrades and reboots, on one host.

Only the packages are stand-ins (stand_ins.sh): small, under the real names, from a signed
repository on the host itself. The tests are one story and run in order.
"""

import pytest

from tests.lab.gpu.driver_host import DriverHost
from tests.lab.gpu.machines import Machines, address

pytestmark = pytest.mark.lab


@pytest.fixture(scope="module")
def host(machines: Machines) -> DriverHost:
    """A bare host with a driver repository, an old kernel and NVIDIA among the allowed origins."""
    one = DriverHost(machines)
    old = "linux-image-6.1.0-22-amd64_6.1.99-1_amd64.deb linux-image-amd64_6.1.99-1_amd64.deb"
    one.prepare(old, "570.133.20", "580.159.03", "580.159.04")
    return one


NOTHING_INSTALLED: dict[str, tuple[dict[str, object], str]] = {
    "a mirror that is down": (
        {"driver_repository": f"http://{address(1)}:1"},
        "apt-get update: the repository cannot be reached: check driver_repository and the host's "
        "way out",
    ),
    "a key that is not there": (
        {
            "driver_key_url": f"http://{address(1)}:8099/none.pub",
            "driver_key_fingerprint": "AB" * 20,
        },
        "none.pub cannot be fetched (HTTP Error 404: File not found): set driver_key_url, or let "
        "the host out",
    ),
    "another key": (
        {"driver_key_fingerprint": "CD" * 20},
        f"instead of {'CD' * 20}: if it is the right one, set driver_key_fingerprint",
    ),
    "a version that is not offered": (
        {"driver_version": "580.99.99", "driver_minimum": "580.65"},
        "apt-get install: the repository does not offer this version, or its dependencies: compare "
        "driver_version with apt-cache madison, and apt-mark showhold",
    ),
}


@pytest.mark.parametrize(("data", "line"), NOTHING_INSTALLED.values(), ids=NOTHING_INSTALLED)
def test_a_repository_that_will_not_do_is_refused(
    host: DriverHost, data: dict[str, object], line: str
) -> None:
    assert line in host.deploy(**data).said
    assert not [name for name in host.versions() if "nvidia" in name]


def test_A13_held_broken_packages_are_named(host: DriverHost) -> None:
    """A site's own pin forbids the one library that the declared driver needs."""
    pin = "Package: libcuda1\nPin: version 580.159.03*\nPin-Priority: -10\n"
    host.ssh("cat >/etc/apt/preferences.d/00-a-site", stdin=pin)

    said = host.deploy().said
    host.ssh("rm /etc/apt/preferences.d/00-a-site")

    assert (
        "apt-get install: the repository does not offer this version, or its dependencies" in said
    )
    assert "apt-mark showhold" in said
    assert "libcuda1" in said
    assert "nvidia-driver-cuda" not in host.versions()


def test_another_apt_is_waited_for_and_named(host: DriverHost) -> None:
    lock = "import fcntl,time; f=open('/var/lib/dpkg/lock-frontend','w'); fcntl.lockf(f, fcntl.LOCK_EX)"
    host.ssh(f'systemd-run --quiet --unit busy python3 -c "{lock}; time.sleep(600)"')

    said = host.deploy().said
    host.ssh("systemctl stop busy")

    assert "apt-get install: python3 (pid " in said
    assert (
        "has held /var/lib/dpkg/lock-frontend for more than 3 s: let it finish or stop it" in said
    )


def test_a_kernel_without_a_module_stops_the_deploy_before_a_reboot(host: DriverHost) -> None:
    host.ssh("touch /etc/dkms-fails-on-6.1.0-22-amd64")
    before = host.ssh("cat /proc/sys/kernel/random/boot_id")

    said = host.deploy().said
    host.ssh("rm /etc/dkms-fails-on-6.1.0-22-amd64")

    assert "implicit declaration of function 'in_irq'" in said
    assert (
        "driver 580.159.03 has no module for kernel 6.1.0-22-amd64: install "
        "linux-headers-6.1.0-22-amd64, or remove that kernel"
    ) in said
    assert host.ssh("cat /proc/sys/kernel/random/boot_id") == before


def test_a_reboot_is_asked_for_where_it_is_not_allowed(host: DriverHost) -> None:
    said = host.deploy(driver_allow_reboot=False).said

    assert (
        "the NVIDIA module is not loaded: reboot this host and deploy again, or set "
        "driver_allow_reboot"
    ) in said


def test_a_host_that_does_not_come_back_is_not_waited_for_for_ever(host: DriverHost) -> None:
    host.ssh("systemctl mask --quiet --runtime reboot.target")

    said = host.deploy(driver_reboot_timeout_s=30).said
    host.ssh("systemctl unmask --quiet --runtime reboot.target")

    assert "not back within 30 s of its reboot: see its console" in said


def test_the_driver_is_built_for_every_kernel_held_and_runs_after_the_reboot(
    host: DriverHost,
) -> None:
    before = host.ssh("cat /proc/sys/kernel/random/boot_id")

    changed = host.deploy().changed

    assert "The kernel runs the driver" in changed
    assert host.ssh("cat /proc/sys/kernel/random/boot_id") != before
    assert host.ssh("cat /lib/modules/*/updates/dkms/nvidia.ko") == "580.159.03\n580.159.03"
    assert host.versions()["nvidia-kernel-open-dkms"] == "580.159.03-1"
    assert host.ssh("apt-mark showhold").split() == sorted(host.versions())
    assert host.ssh("systemctl is-active nvidia-persistenced") == "active"
    assert "blacklist nouveau" in host.ssh("cat /etc/modprobe.d/glmstead-nouveau.conf")


def test_a_second_deploy_changes_nothing(host: DriverHost) -> None:
    assert host.deploy().changed == []


def test_A18_another_module_that_does_not_build_stops_nothing(host: DriverHost) -> None:
    """nvidia-fs of GPUDirect Storage, which nothing here needs."""
    host.ssh("touch /etc/nvidia-fs-fails; rm /lib/modules/6.1.0-21-amd64/updates/dkms/nvidia.ko")

    assert host.deploy().changed == ["Module for every kernel"]
    host.ssh("rm /etc/nvidia-fs-fails")
    assert host.deploy().changed == []


def test_the_power_limit_is_set_once_and_again_after_a_reboot(host: DriverHost) -> None:
    assert host.deploy(gpu_power_limit_w=450).changed == ["Power limit 450 W"]
    assert host.deploy(gpu_power_limit_w=450).changed == []
    assert host.ssh("cat /var/log/nvidia-smi") == "--power-limit=450"

    host.machines.reboot(1)

    assert host.ssh("cat /var/log/nvidia-smi").splitlines() == ["--power-limit=450"] * 2
    assert host.deploy(gpu_power_limit_w=450).changed == []
    host.ssh("echo 600.00 >/run/gpu-power")
    assert host.deploy(gpu_power_limit_w=450).changed == ["Power limit 450 W"]


def test_newer_drivers_and_kernels_move_nothing(host: DriverHost) -> None:
    before = host.versions()
    host.publish("580.170.01", "590.48.01", "615.71.09")

    assert host.moves() == []
    assert host.deploy().changed == []
    host.ssh("DEBIAN_FRONTEND=noninteractive apt-get -y -qq dist-upgrade >/dev/null 2>&1")
    assert host.versions() == before


@pytest.mark.parametrize(
    "off",
    [
        "apt-mark unhold '*'",
        "mv /etc/apt/preferences.d/00-glmstead-* /root",
        "mv /etc/apt/apt.conf.d/60glmstead-unattended-upgrades /root",
    ],
    ids=["without holds", "without pins", "without the blacklist"],
)
def test_two_of_three_protections_are_enough_and_the_third_comes_back(
    host: DriverHost, off: str
) -> None:
    host.ssh(f"{off} >/dev/null")

    assert host.moves() == []
    assert "Driver and kernel are held" in host.deploy().changed
    assert host.deploy().changed == []


def test_without_protection_everything_moves(host: DriverHost) -> None:
    """The control of the tests above: the newer repository is a real temptation."""
    host.ssh(
        "apt-mark unhold '*' >/dev/null; mv /etc/apt/preferences.d/00-glmstead-* "
        "/etc/apt/apt.conf.d/60glmstead-unattended-upgrades /root"
    )

    moved = host.moves()

    for name in ("nvidia-kernel-open-dkms", "libcuda1", "libnvidia-ml1", "linux-image-amd64"):
        assert name in moved
    assert "Driver and kernel are held" in host.deploy().changed
    assert host.moves() == []


def test_a_protection_that_does_not_hold_fails_the_deploy(host: DriverHost) -> None:
    pin = "Package: libcuda1 libnvidia-ml1\nPin: version 590.*\nPin-Priority: 1001\n"
    host.ssh("cat >/etc/apt/preferences.d/00-a-site", stdin=pin)
    host.ssh("echo 'APT::Ignore-Hold \"true\";' >/etc/apt/apt.conf.d/99site")

    said = host.deploy().said
    host.ssh("rm /etc/apt/preferences.d/00-a-site /etc/apt/apt.conf.d/99site")

    assert "apt-get dist-upgrade would move" in said
    assert "libcuda1" in said


def test_another_version_replaces_it_in_one_transaction(host: DriverHost) -> None:
    assert "Driver 580.159.04" in host.deploy(driver_version="580.159.04").changed
    assert {v for n, v in host.versions().items() if "nvidia" in n} == {"580.159.04-1"}

    assert "Driver 580.159.03" in host.deploy().changed  # and back: a downgrade
    assert {v for n, v in host.versions().items() if "nvidia" in n} == {"580.159.03-1"}


def test_A13_an_old_branch_is_purged(host: DriverHost) -> None:
    host.ssh(
        "cd /srv/repo && dpkg -i libnvidia-compute-570_570.133.20-1_amd64.deb "
        "nvidia-driver-570_570.133.20-1_amd64.deb >/dev/null && apt-mark hold nvidia-driver-570"
    )

    assert "Driver 580.159.03" in host.deploy().changed
    assert not [name for name in host.versions() if "570" in name]
    assert host.ssh("dpkg -l | grep -c 570 || true") == "0"


def test_gpus_that_do_not_come_back_fail_the_deploy(host: DriverHost) -> None:
    host.ssh("touch /etc/no-gpu")

    said = host.deploy().said

    assert "0 GPUs, 1 needed: reboot, or set gpu_count" in said
    host.ssh("rm /etc/no-gpu")


def test_a_driver_of_the_image_is_left_alone_and_protected(host: DriverHost) -> None:
    host.ssh("apt-mark unhold libcuda1")
    before = host.versions()

    data = {"driver_source": "image", "driver_version": None, "driver_allow_reboot": False}

    assert host.deploy(**data).operations == {
        "Driver and kernel are held": "changed",
        "No upgrade moves them": "same",
        "Persistence daemon": "same",
        "GPUs as declared": "same",
    }
    assert host.versions() == before


def test_the_toolkit_of_the_repository_leaves_the_driver_as_it_is(host: DriverHost) -> None:
    before, apt = host.versions(), {"cuda_source": "apt", "cuda_version": "13.0"}

    assert host.deploy(**apt).changed == ["CUDA 13.0"]
    assert host.deploy(**apt).changed == []
    assert host.versions() == {**before, "cuda-toolkit-13-0": "13.0.2-1"}


def test_an_expired_key_is_named(host: DriverHost) -> None:
    host.ssh(
        "cd /srv/repo && export GNUPGHOME=/srv/old && mkdir -m 700 -p $GNUPGHOME && "
        "gpg --batch --quiet --faked-system-time 20200101T000000! --passphrase '' "
        "--quick-generate-key old@example.org rsa2048 sign 1d 2>/dev/null && "
        "gpg --batch --yes --quiet --faked-system-time 20200101T000000! --clearsign -o InRelease "
        "Release 2>/dev/null && gpg --armor --export >old.pub && gpg --with-colons --list-keys "
        "2>/dev/null | sed -n 's/^fpr:*\\([0-9A-F]*\\):/\\1/p' | head -n 1 >old"
    )
    old = {
        "driver_key_url": f"http://{address(1)}:8099/old.pub",
        "driver_key_fingerprint": host.ssh("cat /srv/repo/old"),
        "driver_version": "580.159.04",
    }

    said = host.deploy(**old).said

    assert (
        "apt-get update: the repository's key has expired: set driver_key_url to a new one" in said
    )
