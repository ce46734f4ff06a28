"""Ends what is left of the engine on a host, and waits until its GPUs are free; bounded.

Argument: {"user", "kept_units", "bound_s", "free_mib", "seconds"}. Ours is every process of the service user,
and every holder of a GPU in a control group of ours, but for the kept units. Others that hold a GPU
are named and left. Forgets failed starts. Exit status 1 when something of ours is still there.
"""

import json
import os
import pwd
import re
import signal
import sys
import time
from pathlib import Path

from glmstead.probes.asking import asked

HERE = Path("/proc/self/ns/pid").readlink()
FORGOTTEN = (
    *("glmstead-vllm/failed", "glmstead-vllm/waiting", "glmstead-vllm/asleep"),
    "glmstead-watch/*.json",
)


def unit_of(pid: int) -> str:
    try:
        text = Path("/proc", str(pid), "cgroup").read_text()
    except OSError:
        return ""
    names = re.findall(r"/([^/\n]+)\.service", text)
    return names[-1] if names else ""


def name_of(pid: int) -> str:
    try:
        line = Path("/proc", str(pid), "cmdline").read_bytes().replace(b"\0", b" ")
    except OSError:
        return "ended"
    return line.decode(errors="replace").strip()[:80]


def smi(*query: str) -> "list[list[str]]":
    """Rows of a question to nvidia-smi, none on a host without GPUs; raises OSError."""
    said = asked("nvidia-smi", *query, "--format=csv,noheader,nounits")
    if said["status"] == "missing":
        return []
    if said["status"] != "ok":
        raise OSError("nvidia-smi: " + " ".join(f"{said['text']} {said['error']}".split()))
    return [[cell.strip() for cell in line.split(",")] for line in str(said["text"]).splitlines()]


def holders() -> "list[tuple[str, int, int]]":
    """Each hold of a GPU: the GPU's UUID, the process, MiB."""
    rows = smi("--query-compute-apps=gpu_uuid,pid,used_memory")
    return [(gpu, int(pid), int(mib) if mib.isdigit() else 0) for gpu, pid, mib in rows]


def is_ours(pid: int, uid: int, kept: "list[str]") -> bool:
    unit, process = unit_of(pid), Path("/proc", str(pid))
    try:
        # Containers show through /proc: a lab on this machine has units of the same names.
        if unit in kept or (process / "ns/pid").readlink() != HERE:
            return False
        owner = process.stat().st_uid
    except OSError:
        return False
    return owner == uid or unit.startswith("glmstead-")


def ours(uid: int, kept: "list[str]") -> "list[int]":
    """Processes of ours that should have ended with their units."""
    owned = [int(path.name) for path in Path("/proc").glob("[0-9]*") if path.name.isdigit()]
    of_user = [pid for pid in owned if is_ours(pid, uid, kept) and not is_zombie(pid)]
    return [pid for pid in of_user if pid != os.getpid()]


def is_zombie(pid: int) -> bool:
    try:
        return Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def end(uid: int, kept: "list[str]", bound_s: float) -> "list[int]":
    """Ask, then kill; what is still there after the bound."""
    started, told = time.monotonic(), set()
    while left := ours(uid, kept):
        waited = time.monotonic() - started
        if waited > bound_s:
            return left
        for pid in left:
            if pid not in told:
                print(f"ending {pid} {name_of(pid)}")
                told.add(pid)
            try:
                os.kill(pid, signal.SIGKILL if waited > 5 else signal.SIGTERM)
            except ProcessLookupError:
                continue
        time.sleep(0.5)
    return []


def wait_for_memory(uid: int, kept: "list[str]", bound_s: float, free_mib: int) -> "list[str]":
    """Wait until each GPU holds no more than others hold; a line for each that does not."""
    started = time.monotonic()
    while True:
        foreign = [hold for hold in holders() if not is_ours(hold[1], uid, kept)]
        full = []
        for index, uuid, used in smi("--query-gpu=index,uuid,memory.used"):
            others = sum(mib for gpu, _, mib in foreign if gpu == uuid)
            if used.isdigit() and int(used) > free_mib + others:
                full.append((index, used))
        if not full or time.monotonic() - started > bound_s:
            break
        time.sleep(1)
    for _, pid, mib in foreign:
        print(f"{pid} {name_of(pid)} holds {mib} MiB of a GPU: not ours, left alone")
    return [f"GPU {index} still holds {mib} MiB after {bound_s:g} s" for index, mib in full]


def main(request: "dict[str, object]") -> int:
    uid = pwd.getpwnam(str(request["user"])).pw_uid
    kept = [str(one) for one in json.loads(json.dumps(request["kept_units"]))]
    bound_s = float(str(request["bound_s"]))
    wrong = [f"{pid} {name_of(pid)} does not end" for pid in end(uid, kept, bound_s)]
    try:
        wrong += wait_for_memory(uid, kept, bound_s, int(str(request["free_mib"])))
    except OSError as error:
        wrong.append(f"{error}: glmstead deploy says what is wrong")
    for name in FORGOTTEN:
        for path in Path("/run/glmstead").glob(name):
            path.unlink(missing_ok=True)
    print("\n".join(wrong), file=sys.stderr)
    return 1 if wrong else 0


sys.exit(main(json.loads(sys.argv[1])))
