"""Says what a GPU host is, as its own programs and files tell it; standard library only.

Argument: {"root", "user", "environment", "units", "peers", "seconds"}. Every program is asked within a time
limit, because nvidia-smi hangs on a wedged GPU; each answer is {"status": ok | missing | failed |
hung, "text", "error"}. Nothing is parsed here: texts go to ``glmstead.gpu``, which is tested on
recorded ones. ``root`` is / on a host, and a folder of recorded files in a test.
"""

import contextlib
import fcntl
import json
import os
import platform
import pwd
import re
import shutil
import signal
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

FIELDS = (
    "index,name,pci.bus_id,uuid,compute_cap,memory.total,memory.used,ecc.mode.current,"
    "power.limit,power.draw,utilization.gpu,persistence_mode,mig.mode.current,driver_version"
)
PACKAGES = ("*nvidia*", "cuda-*", "libcuda*", "linux-image-*", "linux-headers-*", "linux-modules-*")
LOG = r"NVRM|Xid|nvidia|nouveau|Key was rejected|Lockdown"


def asked(*words: str, keep: str = "", **how: Any) -> "dict[str, str | int]":
    """Answer of a program; a hanging one is left behind, since a task in D state cannot die."""
    try:
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
            **how,
        )
    except (OSError, KeyError) as error:
        return {"status": "missing", "text": "", "error": str(error)}
    try:
        out, err = process.communicate(timeout=request["seconds"])
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        return {"status": "hung", "text": "", "error": f"no answer in {request['seconds']} s"}
    if keep:
        out = "\n".join(line for line in out.splitlines() if re.search(keep, line))
    status = "failed" if process.returncode else "ok"
    return {"status": status, "text": out, "error": err.strip()}


def smi() -> "dict[str, Any]":
    """nvidia-smi's answers; the later ones only where the first came."""
    first = asked("nvidia-smi", f"--query-gpu={FIELDS}", "--format=csv,noheader,nounits")
    if first["status"] != "ok":
        return {"gpus": first}
    holders = "--query-compute-apps=gpu_uuid,pid,process_name,used_memory"
    return {
        "gpus": first,
        "version": asked("nvidia-smi", "--version"),
        "summary": asked("nvidia-smi", keep="CUDA Version"),
        "holders": asked("nvidia-smi", holders, "--format=csv,noheader,nounits"),
        "topology": asked("nvidia-smi", "topo", "-m"),
    }


def inside(path: str) -> Path:
    """A path of the host, below ``root``; one that is there already stays as it is."""
    root = request["root"]
    return Path(path) if path.startswith(root.rstrip("/") + "/") else Path(root, path)


def text(path: str) -> str:
    try:
        return inside(path).read_text(errors="replace")
    except OSError:
        return ""


def modules() -> "dict[str, dict[str, str]]":
    """``{kernel: {"version", "license", "signer"}}`` of the NVIDIA module of each kernel."""
    found = {}
    for kernel in sorted(Path(request["root"], "lib/modules").glob("*/")):
        files = sorted(kernel.rglob("nvidia.ko*"))
        named = {
            field: str(asked("modinfo", "-F", field, str(files[0]))["text"]).strip()
            for field in ("version", "license", "signer")
            if files
        }
        found[kernel.name] = named
    return found


def pci() -> "dict[str, Any]":
    """NVIDIA's display and 3D controllers by address, and what lspci says of every bridge."""
    found = {}
    for path in Path(request["root"], "sys/bus/pci/devices").glob("*"):
        fields = {n: text(f"{path}/{n}").strip() for n in ("vendor", "class", "device")}
        if fields["vendor"] == "0x10de" and fields["class"].startswith("0x03"):
            found[path.name] = {"device": fields["device"], "numa": text(f"{path}/numa_node")}
    groups = Path(request["root"], "sys/kernel/iommu_groups")
    keep = r"^[0-9a-f]{4}:|ACSCtl|LnkSta:|Kernel driver"
    return {
        "gpus": found,
        "devices": asked("lspci", "-Dvvvnn", keep=keep),
        "iommu_groups": len(list(groups.glob("*"))),
    }


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
    name = Path("/proc", str(pids[0]), "comm").read_text().strip() if pids else ""
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
            found[unit] = text(f"proc/{pid}/limits")
    return found


def log() -> "dict[str, str | int]":
    """NVIDIA's lines of the kernel's log since boot."""
    journal = asked("journalctl", "-k", "-b", "-o", "cat", "--no-pager", keep=LOG)
    return journal if journal["text"] else asked("dmesg", keep=LOG)


def size(path: str, field: str) -> int:
    try:
        status = os.statvfs(Path(request["root"], path))
    except OSError:
        return 0
    return int(getattr(status, field)) * status.f_frsize


request = json.loads(sys.argv[1])
print(
    json.dumps(
        {
            "machine": platform.machine(),
            "os": text("etc/os-release"),
            "kernel": text("proc/sys/kernel/osrelease").strip() or platform.release(),
            "boot_id": text("proc/sys/kernel/random/boot_id").strip(),
            "command_line": text("proc/cmdline").strip(),
            "smi": smi(),
            "module": text("proc/driver/nvidia/version"),
            "loaded": [line.split()[0] for line in text("proc/modules").splitlines() if line],
            "modules": modules(),
            "secure_boot": asked("mokutil", "--sb-state"),
            "pci": pci(),
            "network": network(),
            "toolchain": toolchain(),
            "apt": apt(),
            "limits": unit_limits(),
            "shm": size("dev/shm", "f_blocks"),
            "boot_free": size("boot", "f_bavail"),
            "clock": asked("timedatectl", "show", "-p", "NTPSynchronized", "--value"),
            "log": log(),
        }
    )
)
