"""Connections to the hosts: one key a lab, host keys known before the first boot."""

import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path

from glmstead.lab.config import LabConfig
from glmstead.lab.process import run
from glmstead.lab.state import Lab, LabHost


def ssh_command(lab: Lab, host: str, command: Sequence[str] = ()) -> list[str]:
    """Command line of ssh to a host, by its name."""
    return ["ssh", "-F", str(lab.ssh_config), host, *command]


def answer(lab: Lab, host: LabHost, command: str, timeout_s: float = 10) -> str | None:
    """What a command on the host printed; None if it could not be asked (yet).

    The exit status is not looked at: ``systemctl is-system-running`` fails on most answers.
    """
    try:
        with socket.create_connection((host.address, 22), timeout=0.5):
            pass
        argv = [*ssh_command(lab, host.name), command]
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout_s
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None


def make_key(path: Path, comment: str) -> None:
    """Make an ed25519 key pair without a passphrase, unless it is there."""
    if not path.exists():
        run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", str(path)])


def write_client_files(config: LabConfig, lab: Lab) -> None:
    """Write known_hosts and ssh_config for the hosts of ``lab``."""
    lines = [known_host(host, host_key(config, host.name)) for host in lab.hosts]
    lab.known_hosts.write_text("".join(lines))
    lab.ssh_config.write_text("\n".join(client_config(lab, host) for host in lab.hosts))


def host_key(config: LabConfig, host: str) -> str:
    """Public key of a host, read from its disk."""
    return (config.root(host) / "etc/ssh/ssh_host_ed25519_key.pub").read_text()


def known_host(host: LabHost, public_key: str) -> str:
    """Line of known_hosts: name and address, kind of key, key."""
    kind, key = public_key.split()[:2]
    return f"{host.name},{host.address} {kind} {key}\n"


def client_config(lab: Lab, host: LabHost) -> str:
    """Block of ssh_config for a host."""
    return f"""Host {host.name}
    HostName {host.address}
    HostKeyAlias {host.name}
    User root
    IdentityFile {lab.ssh_key}
    IdentitiesOnly yes
    UserKnownHostsFile {lab.known_hosts}
    GlobalKnownHostsFile /dev/null
    StrictHostKeyChecking yes
    BatchMode yes
    ConnectTimeout 5
    LogLevel ERROR
"""
