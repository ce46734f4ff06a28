"""How a host is booted: command lines, and finding what is left of them."""

from collections.abc import Iterable, Mapping

from glmstead.lab.config import LabConfig

# Without the unified hierarchy the controller's hybrid cgroups show through into the host.
ENVIRONMENT = {"SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1"}


def nspawn_command(config: LabConfig, host: str) -> list[str]:
    """Command line that boots a host and stays in the foreground until it powers off."""
    return [
        "systemd-nspawn",
        "--quiet",
        "--settings=no",
        f"--directory={config.root(host)}",
        "--boot",
        f"--machine={host}",
        # Neither machined nor a systemd on the controller is needed.
        "--register=no",
        "--keep-unit",
        "--capability=all",
        # add_key, keyctl and bpf are what container engines inside the host ask for.
        "--system-call-filter=add_key keyctl bpf",
        f"--network-bridge={config.bridge}",
        "--resolv-conf=off",
        "--timezone=off",
        "--link-journal=no",
        "--console=pipe",
        # nspawn's own /dev/shm is 10 % of the memory: too small for ranks that share it.
        "--tmpfs=/dev/shm:mode=1777,size=50%",
        f"--bind-ro={config.wheels}:/srv/wheels",
    ]


def left_over_pids(config: LabConfig, command_lines: Mapping[int, list[str]]) -> list[int]:
    """Processes of this lab's systemd-nspawn, told by our disks in their command lines."""
    ours = f"--directory={config.hosts}/"
    return [
        pid
        for pid, argv in command_lines.items()
        if argv and "systemd-nspawn" in argv and any(word.startswith(ours) for word in argv)
    ]


def left_over_mounts(config: LabConfig, mounts: Iterable[str]) -> list[str]:
    """Mount points below the lab's state, deepest first, from the lines of /proc/mounts."""
    points = [line.split()[1] for line in mounts]
    return sorted((p for p in points if p.startswith(f"{config.state}/")), reverse=True)
