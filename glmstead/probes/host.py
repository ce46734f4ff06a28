"""Says what a deploy must know of a host before it changes anything; standard library only.

Argument: {"paths": [...], "peers": [[address, port], ...], "env": root}. Times in seconds, sizes in
bytes; ``listening`` maps a TCP port to {"address", "process", "pid", "unit"}.
"""

import json
import os
import platform
import re
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path


def free_bytes(path: str) -> int:
    place = Path(path)
    while not place.exists():
        place = place.parent
    return shutil.disk_usage(place).free


def memory_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def unit_of(pid: str) -> str:
    try:
        text = Path("/proc", pid, "cgroup").read_text()
    except OSError:
        return ""
    # a container's processes are in a slice of ours, in no service
    names = re.findall(r"/([^/\n]+\.service|glmstead-[^/\n]+\.slice)", text)
    return names[-1] if names else ""


def listening() -> "dict[str, dict[str, str]]":
    answer = subprocess.run(["ss", "-Hltnp"], capture_output=True, text=True)
    found = {}
    for line in answer.stdout.splitlines():
        address, _, port = line.split()[3].rpartition(":")
        owner = re.search(r'"([^"]+)",pid=(\d+)', line)
        name, pid = owner.groups() if owner else ("", "")
        found[port] = {"address": address, "process": name, "pid": pid, "unit": unit_of(pid)}
    return found


def addresses() -> "dict[str, list[str]]":
    answer = subprocess.run(["ip", "-j", "-4", "address"], capture_output=True, text=True)
    links = json.loads(answer.stdout or "[]")
    return {link["ifname"]: [a["local"] for a in link.get("addr_info", [])] for link in links}


def reachable(address: str, port: int) -> bool:
    try:
        with socket.create_connection((address, port), timeout=3):
            return True
    except OSError:
        return False


def environment_python(root: str) -> "str | None":
    config = Path(root, "pyvenv.cfg")
    if not config.exists():
        return None
    found = re.search(r"^version(?:_info)? *= *(\S+)", config.read_text(), re.MULTILINE)
    return found.group(1) if found else None


def pythons(minor: str) -> "str | None":
    return shutil.which("python" + minor)


request = json.loads(sys.argv[1])
print(
    json.dumps(
        {
            "machine": platform.machine(),
            "python": platform.python_version(),
            "wanted_python": pythons(request["python"]),
            "environment_python": environment_python(request["environment"]),
            "apt": bool(shutil.which("apt-get")),
            "systemd": Path("/run/systemd/system").exists(),
            "free": {path: free_bytes(path) for path in request["paths"]},
            "present": {path: Path(path).exists() for path in request["paths"]},
            "memory": memory_bytes(),
            "addresses": addresses(),
            "listening": listening(),
            "unreachable": [peer for peer in request["peers"] if not reachable(*peer)],
            "time": time.time(),
        }
    )
)
