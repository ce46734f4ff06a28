"""What surrounds the GPUs: network, compilers, apt, limits of running services, sizes."""

import contextlib
import fcntl
import os
import pwd
import shutil
import struct
from pathlib import Path
from typing import Any

from glmstead.probes.asking import asked, request, text

PACKAGES = ("*nvidia*", "cuda-*", "libcuda*", "linux-image-*", "linux-headers-*", "linux-modules-*")


def network() -> "dict[str, Any]":
    speeds = {}
    for path in Path(request["root"], "sys/class/net").glob("*"):
        with contextlib.suppress(OSError):
            speeds[path.name] = (path / "speed").read_text().strip()
    routes = {peer: asked("ip", "-j", "-4", "route", "get", peer) for peer in request["peers"]}
    return {"links": asked("ip", "-j", "-4", "address"), "speeds": speeds, "routes": routes}


def as_user() -> "dict[str, Any]":
    """How to run a program as the service user, or as whoever asks where there is none yet."""
    environment = {"env": request["environment"]}
    try:
        user = pwd.getpwnam(request["user"])
    except KeyError:
        return environment
    if os.geteuid() != 0:
        return environment
    return {**environment, "user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def toolchain() -> "dict[str, Any]":
    """The compilers as the services find them: their user, their PATH, their CUDA_HOME."""
    how, path = as_user(), request["environment"].get("PATH", "")
    home = request["environment"].get("CUDA_HOME", "")
    nvcc = f"{home}/bin/nvcc" if home else shutil.which("nvcc", path=path) or "nvcc"
    found = {"nvcc": asked(nvcc, "--version", **how)}
    for name in ("ninja", "g++"):
        found[name] = asked(shutil.which(name, path=path) or name, "--version", **how)
    return {**found, "cuda_home": home}


def lock_holder(path: str) -> int:
    """Process that holds a lock of apt or dpkg, 0 for none."""
    try:
        with Path(request["root"], path).open("rb+") as file:
            asking = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
            answer = struct.unpack("hhqqi4x", fcntl.fcntl(file, fcntl.F_GETLK, asking))
    except OSError:
        return 0
    return 0 if answer[0] == fcntl.F_UNLCK else int(answer[4])


def apt() -> "dict[str, Any]":
    """Installed packages, holds, and what would stop apt."""
    form = "${db:Status-Abbrev} ${Package} ${Version}\n"
    locks = ("var/lib/dpkg/lock-frontend", "var/lib/apt/lists/lock")
    pids = [pid for pid in map(lock_holder, locks) if pid]
    name = text(f"/proc/{pids[0]}/comm").strip() if pids else ""  # it may have ended
    return {
        "packages": asked("dpkg-query", "-W", f"-f={form}", *PACKAGES, keep="^.[iFUHW]"),
        "held": asked("apt-mark", "showhold"),
        "check": asked("dpkg", "--audit"),
        "lock": {"pid": pids[0], "process": name} if pids else None,
    }


def unit_limits() -> "dict[str, str]":
    """Limits of each running unit's main process, as the kernel has them."""
    found = {}
    for unit in request["units"]:
        pid = str(asked("systemctl", "show", "-P", "MainPID", unit + ".service")["text"]).strip()
        if pid not in ("", "0"):
            found[unit] = text(f"proc/{in_container(unit, pid)}/limits")
    return found


def in_container(unit: str, pid: str) -> str:
    """The engine's process where a unit's own is Docker's client, whose limits say nothing."""
    if text(f"proc/{pid}/comm").strip() != "docker":
        return pid
    state = asked("docker", "inspect", "--format", "{{.State.Pid}}", unit)
    return str(state["text"]).strip() or pid


def size(path: str, field: str) -> int:
    try:
        status = os.statvfs(Path(request["root"], path))
    except OSError:
        return 0
    return int(getattr(status, field)) * status.f_frsize
