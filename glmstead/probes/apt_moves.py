"""Says which packages the next upgrades of a host would move; nothing is changed.

Argument: null. Answers {"dist_upgrade": [...], "unattended": [...] or null, "error"}; null where
unattended-upgrades is not installed. Needs root, as apt's locks do.
"""

import json
import os
import re
import shutil
import subprocess
from typing import Any

SIMULATED = re.compile(r"^(?:Inst|Remv) (\S+)", re.M)
# "Packages that will be upgraded: a b", "Packages that are auto-removed: 'a b'"
UNATTENDED = re.compile(r"^Packages that (?:will be|are|were) [^:]*: ?(.*)$", re.M | re.I)


def output(*words: str) -> "tuple[str, str]":
    done = subprocess.run(
        words, env={**os.environ, "LC_ALL": "C"}, capture_output=True, text=True, timeout=300
    )
    return done.stdout + done.stderr, "" if done.returncode == 0 else done.stderr.strip()


def unattended() -> "tuple[list[str] | None, str]":
    if not shutil.which("unattended-upgrade"):
        return None, ""
    said, error = output("unattended-upgrade", "--dry-run", "--verbose")
    names = {name.strip("',") for line in UNATTENDED.findall(said) for name in line.split()}
    return sorted(name for name in names if re.match(r"[a-z0-9]", name)), error


def moves() -> "dict[str, Any]":
    said, error = output("apt-get", "--simulate", "dist-upgrade")
    names, other = unattended()
    return {
        "dist_upgrade": sorted(set(SIMULATED.findall(said))),
        "unattended": names,
        "error": error or other,
    }


print(json.dumps(moves()))
