"""Keeps one host powered: boots it, boots it again when it reboots, ends when it powers off.

Runs by its path, with the standard library only, so that it needs no environment.
Usage: keeper.py CGROUP COMMAND...
"""

import os
import subprocess
import sys
import time
from pathlib import Path

REBOOT = 133  # systemd-nspawn --keep-unit: the machine asked for a reboot


def enter(group: Path) -> None:
    """Move this process into a control group, making it first."""
    group.mkdir(parents=True, exist_ok=True)
    (group / "cgroup.procs").write_text(str(os.getpid()))


def empty(group: Path, timeout_s: float = 10) -> bool:
    """Kill what runs in a control group and remove it; False if something would not die."""
    deadline = time.monotonic() + timeout_s
    while group.exists():
        try:
            (group / "cgroup.kill").write_text("1")
            for child in sorted(group.rglob("*/"), reverse=True):
                child.rmdir()
            group.rmdir()
        except OSError:  # still dying
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
    return True


def keep(group: Path, command: list[str]) -> int:
    """Boot until the machine powers off or its systemd-nspawn dies; exit status of the latter."""
    machine = group / "machine"
    enter(group / "keeper")
    status = REBOOT
    while status == REBOOT:
        print(f"keeper: booting {group.name}", flush=True)
        # Single-threaded, so preexec_fn is safe; the control group must be entered before exec.
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, preexec_fn=lambda: enter(machine)
        )
        status = child.wait()
        # A container outlives a killed systemd-nspawn; a host without one must not stay up.
        empty(machine)
    print(f"keeper: {group.name} ended with {status}", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(keep(Path(sys.argv[1]), sys.argv[2:]))
