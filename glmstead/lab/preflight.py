"""Refusals before anything is changed, each one line with its fix."""

import os
import shutil
from ipaddress import IPv4Network
from pathlib import Path

from glmstead.lab import machine, network
from glmstead.lab.config import LabConfig, LabError
from glmstead.lab.conflicts import foreign_bridge, forward_dropped, subnet_conflict
from glmstead.lab.image import free_gb, image_path
from glmstead.lab.process import run
from glmstead.lab.state import read_lab

PROGRAMS = {  # Debian package: a file of it that the lab uses
    "systemd-container": "systemd-nspawn",
    "debootstrap": "debootstrap",
    "debian-archive-keyring": "/usr/share/keyrings/debian-archive-keyring.gpg",
    "iproute2": "ip",
    "openssh-client": "ssh-keygen",
    "nftables": "nft",
    "iptables": "iptables",
}
HOST_GB = 6.0
CACHE_GB = 4.0


def require_root() -> None:
    """Raise LabError unless this process may do what a lab needs."""
    if os.geteuid() != 0:
        raise LabError("the lab needs root: run it with sudo")


def require_programs() -> None:
    """Raise LabError naming the Debian packages that are missing."""
    if not shutil.which("apt-get"):
        raise LabError(
            "the lab needs Debian or a derivative (no apt-get here): use a Debian machine"
        )
    missing = missing_packages()
    if missing:
        raise LabError(f"missing packages: apt-get install -y {' '.join(missing)}")


def missing_packages() -> list[str]:
    """Debian packages of which a program, or the keyring, is not found."""
    return [name for name, file in PROGRAMS.items() if not (shutil.which(file) or is_there(file))]


def is_there(file: str) -> bool:
    """Whether an absolute path exists; programs are looked up in PATH instead."""
    return file.startswith("/") and Path(file).exists()


def require_room(config: LabConfig, new_hosts: int) -> None:
    """Raise LabError if the disk does not hold ``new_hosts`` more hosts and the caches."""
    cache_gb = 0.0 if image_path(config).exists() else CACHE_GB
    wanted = new_hosts * HOST_GB + cache_gb
    found = free_gb(config.state)
    if new_hosts and found < wanted:
        raise LabError(
            f"{config.state}: {found:.0f} GB free, {wanted:.0f} GB needed: "
            "free some, use fewer --hosts, or set GLMSTEAD_LAB_STATE and GLMSTEAD_CACHE"
        )


def require_network(config: LabConfig) -> None:
    """Raise LabError if the lab's network would clash with what is there."""
    lab = read_lab(config)
    if lab and lab.subnet != str(config.subnet):
        raise LabError(f"the lab is up on {lab.subnet}: glmstead lab down, then up")
    if foreign_bridge(network.links(), config):
        raise LabError(
            f"{config.bridge} exists and is not this lab's: ip link delete {config.bridge}"
        )
    if conflict := subnet_conflict(network.routes(), config):
        other = free_subnet(network.routes())
        raise LabError(
            f"{config.subnet} overlaps {conflict}: set GLMSTEAD_LAB_SUBNET, for example to {other}"
        )
    if forward_dropped(run(["iptables", "-S", "FORWARD"]), config):
        raise LabError(
            "the firewall drops forwarded packets (Docker does that): "
            f"iptables -I FORWARD -i {config.bridge} -j ACCEPT; "
            f"iptables -I FORWARD -o {config.bridge} -j ACCEPT"
        )
    network.usable_resolv_conf()


def free_subnet(routes: list[network.Record]) -> IPv4Network:
    """A subnet that no route overlaps."""
    candidates = (IPv4Network(f"10.{second}.42.0/24") for second in range(78, 256))
    return next(c for c in candidates if subnet_conflict(routes, LabConfig(subnet=c)) is None)


def require_containers() -> None:
    """Raise LabError if this machine does not let us make namespaces and control groups."""
    group = machine.cgroup_root() / "glmstead-probe"
    try:
        group.mkdir(exist_ok=True)
        group.rmdir()
        run(["unshare", "--mount", "--pid", "--net", "--uts", "--ipc", "--fork", "true"])
    except (OSError, LabError) as error:
        raise LabError(
            f"systemd-nspawn is not permitted here ({error}): use a virtual machine, "
            "or a container with all capabilities and a writable cgroup2"
        ) from None


def require_machine(config: LabConfig, new_hosts: int) -> None:
    """All refusals that look at this machine; raises LabError."""
    require_containers()
    require_network(config)
    require_room(config, new_hosts)
