"""Says what a client of the endpoint must know: key, journal of this start, versions, hardware.

Argument: {"key_file", "unit", "environments", "packages"}. The answer holds the key: it is printed
nowhere but to the caller's pipe.
"""

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

HEAD, TAIL = 4000, 1000  # lines of a journal that are kept


def words(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=30).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""


def key(path: str) -> "str | None":
    """The value of an environment file's line."""
    try:
        return Path(path).read_text().split("=", 1)[1].strip()
    except (OSError, IndexError):
        return None


def journal(unit: str) -> "list[str]":
    """What a unit has logged since its last start, without served requests."""
    invocation = words("systemctl", "show", "-P", "InvocationID", unit).strip()
    if not invocation:
        return []
    match = "_SYSTEMD_INVOCATION_ID=" + invocation
    lines = words("journalctl", "--no-pager", "-o", "cat", match).splitlines()
    kept = [line for line in lines if '" 200 OK' not in line]
    return kept if len(kept) <= HEAD + TAIL else kept[:HEAD] + kept[-TAIL:]


def versions(environments: "list[str]", packages: "list[str]") -> "dict[str, str]":
    """Installed releases of the named distributions."""
    found = {}
    for environment in environments:
        for folder in Path(environment).glob("lib/python3*/site-packages/*.dist-info"):
            name, _, version = folder.name[: -len(".dist-info")].partition("-")
            if name.replace("_", "-") in packages:
                found[name.replace("_", "-")] = version
    return found


def hardware() -> "dict[str, object]":
    """Processor, memory and GPUs."""
    cpu = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line]
    columns = "--query-gpu=name,memory.total,driver_version"
    gpus = words("nvidia-smi", columns, "--format=csv,noheader").splitlines()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    name = cpu[0].partition(":")[2].strip() if cpu else platform.machine()
    count = os.cpu_count()
    return {"cpu": name, "cpus": count, "memory_gb": round(memory / 1e9, 1), "gpus": gpus}


def main() -> None:
    request = json.loads(sys.argv[1])
    print(
        json.dumps(
            {
                "key": key(request["key_file"]),
                "journal": journal(request["unit"]),
                "versions": versions(request["environments"], request["packages"]),
                "hardware": hardware(),
                "kernel": platform.release(),
            }
        )
    )


main()
