"""Says what systemd knows of units, and whether each runs what now lies on disk.

Argument: list of unit names without ``.service``. A unit's ExecStartPre writes the sha256 of its
inputs (``/etc/glmstead/inputs/<unit>``) to ``/run/glmstead/<unit>.started``; a difference between
that and the files now means that the process is older than its configuration, whoever changed it.
"""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

PROPERTIES = "Id,LoadState,ActiveState,SubState,UnitFileState,NeedDaemonReload,NRestarts,Result"


def stale_inputs(unit: str) -> "list[str]":
    """Inputs that differ from what the running process was started with."""
    started = Path("/run/glmstead", unit + ".started")
    wanted = Path("/etc/glmstead/inputs", unit)
    if not wanted.exists():
        return []
    if not started.exists():
        return [str(started)]
    lines = [line.split("  ", 1) for line in started.read_text().splitlines()]
    seen = {path: digest for digest, path in lines}
    paths = wanted.read_text().splitlines()
    return [path for path in paths if seen.get(path) != sha256_of(path)]


def sha256_of(path: str) -> str:
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError:
        return "missing"


def properties(units: "list[str]") -> "dict[str, dict[str, str]]":
    names = [unit + ".service" for unit in units]
    answer = subprocess.run(
        ["systemctl", "show", "-p", PROPERTIES, *names], capture_output=True, text=True, check=True
    )
    blocks = answer.stdout.strip().split("\n\n")
    rows = [dict(line.split("=", 1) for line in block.splitlines()) for block in blocks]
    return dict(zip(units, rows, strict=True))


def ray_session() -> str:
    """Name of the Ray session this host's raylet belongs to; equal on all hosts of a cluster."""
    latest = Path("/var/lib/glmstead/ray/session_latest")
    return latest.resolve().name if latest.is_symlink() else ""


names = json.loads(sys.argv[1])
states = properties(names)
for name in names:
    states[name]["stale"] = stale_inputs(name)  # type: ignore[assignment]
print(json.dumps({"units": states, "ray_session": ray_session()}))
