"""The driver as apt sees it: where from, which packages, and what keeps them as they are."""

import re
from dataclasses import dataclass

from glmstead.gpu import tables
from glmstead.gpu.driver import DRIVER_GLOBS, is_driver_package, is_kernel_package, upstream
from glmstead.gpu.values import GpuHost
from glmstead.settings.sections import DriverSettings

SOURCES = "/etc/apt/sources.list.d/glmstead-nvidia.sources"
DRIVER_PIN = "/etc/apt/preferences.d/00-glmstead-nvidia"
KERNEL_PIN = "/etc/apt/preferences.d/00-glmstead-kernel"
# After 50unattended-upgrades: apt adds the entries of later files to a list.
BLACKLIST = "/etc/apt/apt.conf.d/60glmstead-unattended-upgrades"
NOUVEAU = "/etc/modprobe.d/glmstead-nouveau.conf"

_NVIDIA = "https://developer.download.nvidia.com/compute/cuda/repos"
# Debian 13 has a key of its own: NVIDIA/cuda-repo-management#39
_KEYS = {"debian13": "8793F200.pub"}
_FINGERPRINT = "EB693B3035CD5710E231E123A4B469963BF863CC"


@dataclass(frozen=True)
class Repository:
    """A flat apt repository and its key; ``fingerprint`` is None where it must be declared."""

    uri: str
    key_url: str
    fingerprint: str | None

    @property
    def keyring(self) -> str:
        """Where the key lies on a host; another key is another file."""
        return f"/usr/share/keyrings/glmstead-nvidia-{str(self.fingerprint)[-8:].lower()}.gpg"

    @property
    def text(self) -> str:
        """The source, in apt's own form."""
        return f"Types: deb\nURIs: {self.uri}\nSuites: /\nSigned-By: {self.keyring}\n"


def repository(driver: DriverSettings, system: tuple[str, str], machine: str) -> Repository:
    """NVIDIA's repository for a host, or the site's mirror of it."""
    distribution = tables.REPOSITORIES.get(system, "")
    uri = driver.repository or f"{_NVIDIA}/{distribution}/{tables.MACHINES.get(machine, machine)}"
    uri = uri.rstrip("/") + "/"
    known = None if distribution in _KEYS or driver.key_url else _FINGERPRINT
    key = driver.key_url or uri + _KEYS.get(distribution, "3bf863cc.pub")
    return Repository(uri, key, driver.key_fingerprint or known)


def driver_packages(driver: DriverSettings, system: tuple[str, str]) -> list[str]:
    """Open kernel modules and the computing half of the driver; no desktop, no metapackage
    that changes its meaning."""
    if driver.packages:
        return list(driver.packages)
    if system[0] == "debian":
        return ["nvidia-kernel-open-dkms", "nvidia-driver-cuda", "nvidia-persistenced"]
    if _has_branch_names(driver, system):
        branch = tables.branch(str(driver.version))
        names = ("nvidia-headless", "nvidia-utils", "nvidia-compute-utils")
        return [f"{name}-{branch}{'-open' if name.endswith('less') else ''}" for name in names]
    return ["nvidia-headless-open", "nvidia-utils", "nvidia-compute-utils"]


def _has_branch_names(driver: DriverSettings, system: tuple[str, str]) -> bool:
    """Ubuntu's names lost their branch with 590; Debian's never had one."""
    return system[0] == "ubuntu" and int(tables.branch(str(driver.version))) < 590


def transaction(found: GpuHost, driver: DriverSettings) -> list[str]:
    """Arguments of one ``apt-get install``: the new version in, every trace of another out.

    Two transactions would stop at "held broken packages", since the old metapackages want the
    old libraries (NVIDIA/ansible-role-nvidia-driver#33).
    """
    branch = tables.branch(str(driver.version))
    others = {n: v for n, v in found.driver.packages.items() if is_driver_package(n)}
    wrong = [name for name, version in others.items() if upstream(version) != driver.version]
    suffixed = _has_branch_names(driver, found.system)
    old = [name for name in wrong if _is_of_another_branch(name, branch, suffixed)]
    moved = [name for name in wrong if name not in old]
    headers = [f"linux-headers-{kernel}" for kernel in found.kernels]
    wanted = driver_packages(driver, found.system)
    return [*dict.fromkeys([*wanted, "dkms", *headers, *moved]), *(f"{name}-" for name in old)]


def _is_of_another_branch(name: str, branch: str, suffixed: bool) -> bool:
    number = re.search(r"-(\d{3})(?:-|$)", name)
    return suffixed if number is None else number[1] != branch


def driver_pin(version: str) -> str:
    """Preferences: this version from wherever, and never another."""
    names = " ".join(DRIVER_GLOBS)
    return (
        f"Package: {names}\nPin: version {version}-*\nPin-Priority: 1001\n\n"
        f"Package: {names}\nPin: version *\nPin-Priority: -1\n"
    )


def kernel_pin(installed: dict[str, str]) -> str:
    """Preferences: kernels and their metapackages stay at the installed version.

    A kernel of another version is another package, which only a metapackage brings in.
    """
    kernels = {n: v for n, v in installed.items() if is_kernel_package(n)}
    entries = [
        f"Package: {name}\nPin: version {version}\nPin-Priority: 1001\n\n"
        f"Package: {name}\nPin: version *\nPin-Priority: -1\n"
        for name, version in sorted(kernels.items())
    ]
    return "\n".join(entries) or "# no kernel package is installed\n"


def blacklist() -> str:
    """unattended-upgrades takes regular expressions that match from the start of a name."""
    names = ("nvidia-", "libnvidia-", "libcuda", "libnv", "cuda-", "linux-", "firmware-nvidia")
    entries = "".join(f'  "{name}";\n' for name in names)
    return (
        f"Unattended-Upgrade::Package-Blacklist {{\n{entries}}};\n"
        'Unattended-Upgrade::Automatic-Reboot "false";\n'
    )


def to_hold(found: GpuHost) -> list[str]:
    """Installed packages that must not move and are not held yet."""
    protected = [n for n in found.driver.packages if is_driver_package(n) or is_kernel_package(n)]
    return sorted(set(protected) - set(found.held))
