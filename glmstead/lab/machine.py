"""Running hosts: each in a control group of its own, by which all of it can be found and killed.

Without groups of their own, hosts started from one shell would share ``payload`` and with it
each other's services.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from glmstead.lab import keeper
from glmstead.lab.config import LabConfig, LabError
from glmstead.lab.nspawn import ENVIRONMENT, left_over_mounts, left_over_pids, nspawn_command
from glmstead.lab.process import run, wait_until

STOP_S = 5.0
NSPAWN_RUN = Path("/run/systemd/nspawn")


def cgroup_root() -> Path:
    """Where the unified control group hierarchy is mounted; raises LabError if nowhere."""
    mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    unified = [Path(mount[1]) for mount in mounts if mount[2] == "cgroup2"]
    if not unified:
        raise LabError("no cgroup2 is mounted: mount -t cgroup2 cgroup2 /sys/fs/cgroup")
    return unified[0]


def lab_group(config: LabConfig) -> Path:
    """Control group of all of the lab's processes."""
    return cgroup_root() / f"glmstead-{config.name}"


def pids(group: Path) -> list[int]:
    """Processes directly in a control group."""
    procs = group / "cgroup.procs"
    return [int(pid) for pid in procs.read_text().split()] if procs.exists() else []


def is_running(config: LabConfig, host: str) -> bool:
    """True while the host has both its keeper and its systemd-nspawn."""
    group = lab_group(config) / host
    return bool(pids(group / "keeper")) and bool(pids(group / "machine/supervisor"))


def log_path(config: LabConfig, host: str) -> Path:
    """Console output of a host, all its boots."""
    return config.state / "logs" / f"{host}.log"


def boot(config: LabConfig, host: str) -> "subprocess.Popen[bytes]":
    """Start a host that is not running; returns its keeper at once, the log says how it goes."""
    pull_plug(config, host)
    log = log_path(config, host)
    log.parent.mkdir(exist_ok=True)
    group = lab_group(config) / host
    with log.open("a") as output:
        return subprocess.Popen(
            [sys.executable, keeper.__file__, str(group), *nspawn_command(config, host)],
            env={"PATH": os.environ["PATH"], **ENVIRONMENT},
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )


def pull_plug(config: LabConfig, host: str) -> None:
    """Kill everything of a host at once; raises LabError if something survives."""
    group = lab_group(config) / host
    if not keeper.empty(group):
        raise LabError(f"{host}: processes do not die, see {group}/cgroup.procs")


def power_off(config: LabConfig, hosts: Iterable[str]) -> None:
    """Ask hosts to power off, and pull the plug of those that take longer than a bound."""
    names = list(hosts)
    for host in names:
        for pid in pids(lab_group(config) / host / "machine/supervisor"):
            os.kill(pid, signal.SIGTERM)  # systemd-nspawn makes it the host's clean power-off
    wait_until(lambda: not any(is_running(config, host) for host in names) or None, STOP_S)
    for host in names:
        pull_plug(config, host)


def clear_left_overs(config: LabConfig) -> None:
    """Remove what a crash may have left: processes outside the groups, mounts, groups."""
    if not keeper.empty(lab_group(config)):
        raise LabError(f"processes do not die, see {lab_group(config)}")
    for pid in left_over_pids(config, command_lines()):
        os.kill(pid, signal.SIGKILL)
    for point in left_over_mounts(config, Path("/proc/mounts").read_text().splitlines()):
        run(["umount", "--lazy", point])
    for group in Path("/sys/fs/cgroup").glob(f"*/{lab_group(config).name}"):
        remove_empty_groups(group)
    remove_runtime_files(config)


def remove_empty_groups(group: Path) -> None:
    """Remove what nspawn mirrors into the hierarchies of old control groups."""
    for child in [*sorted(group.rglob("*/"), reverse=True), group]:
        child.rmdir()


def remove_runtime_files(config: LabConfig) -> None:
    """Remove what a killed systemd-nspawn leaves in /run."""
    for directory in (NSPAWN_RUN / "propagate").glob(f"{config.name}[0-9]*"):
        directory.rmdir()
    for root in config.hosts.glob("[!.]*"):
        disk = root.stat()
        (NSPAWN_RUN / "locks" / f"inode-{disk.st_dev}:{disk.st_ino}").unlink(missing_ok=True)


def command_lines() -> dict[int, list[str]]:
    """Command lines of all processes by their ids."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found[int(path.parent.name)] = path.read_text(errors="replace").split("\0")
        except OSError:  # ended meanwhile
            continue
    return found
