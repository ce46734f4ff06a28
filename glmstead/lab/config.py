"""What a lab is called and where it keeps its things; every other name derives from here."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path

MAX_HOSTS = 8
DEFAULT_SUBNET = IPv4Network("10.77.42.0/24")
# Suite of the hosts: components of its archive that hold the base image's packages.
SUITES = {"bookworm": "main", "trixie": "main", "jammy": "main,universe", "noble": "main,universe"}
INTERFACE = "host0"  # systemd-nspawn's name for the container's end of the veth pair


class LabError(Exception):
    """A refusal or failure in one line that says what to do."""


@dataclass(frozen=True)
class LabConfig:
    """One lab. Two labs that differ in name, subnet and state can run side by side."""

    name: str = "lab"
    subnet: IPv4Network = DEFAULT_SUBNET
    state: Path = Path("/var/lib/glmstead-lab")
    cache: Path = Path("/var/cache/glmstead-lab")
    suite: str = "bookworm"

    @classmethod
    def from_environment(cls, env: Mapping[str, str] = os.environ) -> "LabConfig":
        """Read ``GLMSTEAD_LAB_NAME``, ``_SUBNET``, ``_STATE``, ``_SUITE`` and ``GLMSTEAD_CACHE``.

        Raises LabError for a value that cannot be used.
        """
        name = env.get("GLMSTEAD_LAB_NAME", cls.name)
        if not re.fullmatch(r"[a-z]{1,8}", name):  # kernel: 15 characters in the bridge's name
            raise LabError(f"GLMSTEAD_LAB_NAME={name}: use 1 to 8 lower-case letters")
        state = "/var/lib/glmstead-" + name
        suite = env.get("GLMSTEAD_LAB_SUITE", cls.suite)
        if suite not in SUITES:
            raise LabError(f"GLMSTEAD_LAB_SUITE={suite}: use one of {', '.join(SUITES)}")
        return cls(
            name=name,
            subnet=_subnet(env.get("GLMSTEAD_LAB_SUBNET", str(cls.subnet))),
            state=_absolute("GLMSTEAD_LAB_STATE", env.get("GLMSTEAD_LAB_STATE", state)),
            cache=_absolute("GLMSTEAD_CACHE", env.get("GLMSTEAD_CACHE", str(cls.cache))),
            suite=suite,
        )

    @property
    def bridge(self) -> str:
        """Interface of the controller in the lab's network."""
        return f"glm{self.name}0"

    @property
    def table(self) -> str:
        """nftables table that holds the masquerade rule, and nothing else."""
        return f"glmstead_{self.name}"

    @property
    def gateway(self) -> IPv4Address:
        """Address of the controller in the lab's network."""
        return self.subnet.network_address + 1

    @property
    def hosts(self) -> Path:
        """Directory of the hosts' disks, one directory a host."""
        return self.state / "hosts"

    @property
    def wheels(self) -> Path:
        """Wheels that every host sees, read-only, at /srv/wheels."""
        return self.cache / "wheels"

    @property
    def debs(self) -> Path:
        """Packages that earlier labs of this suite downloaded."""
        return self.cache / ("debs" if self.suite == LabConfig.suite else f"debs-{self.suite}")

    def host_name(self, number: int) -> str:
        """Name of host ``number``, counted from 1: machine name, host name, SSH alias."""
        return f"{self.name}{number}"

    def host_names(self, count: int) -> tuple[str, ...]:
        """Names of the first ``count`` hosts."""
        return tuple(self.host_name(number) for number in range(1, count + 1))

    def address(self, host: str) -> IPv4Address:
        """Address of a host by its name: lab1 is .11."""
        return self.subnet.network_address + 10 + int(host.removeprefix(self.name))

    def root(self, host: str) -> Path:
        """Root directory (the disk) of a host."""
        return self.hosts / host


def _subnet(text: str) -> IPv4Network:
    try:
        subnet = IPv4Network(text)
    except ValueError:
        raise LabError(f"GLMSTEAD_LAB_SUBNET={text}: use a network such as 10.77.42.0/24") from None
    if subnet.prefixlen > 26:
        raise LabError(f"GLMSTEAD_LAB_SUBNET={text}: use a /26 or larger")
    return subnet


def _absolute(key: str, text: str) -> Path:
    # The path becomes part of --bind-ro=SOURCE:TARGET and of ssh_config, so keep it plain.
    if not re.fullmatch(r"/[A-Za-z0-9._/-]+", text):
        raise LabError(f"{key}={text}: use an absolute path of letters, digits and ._-/")
    return Path(text)
