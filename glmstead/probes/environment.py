"""Says what a virtual environment holds; argument: {"root", "lock", "uv"}.

Answers {"python": "3.11.2" or null, "lock": sha256 of the installed lock or null,
"versions": {normalised name: version}} by reading metadata folders, without importing anything.
"""

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path


def installed(root: Path) -> "dict[str, str]":
    found = {}
    for folder in root.glob("lib/python3*/site-packages/*.dist-info"):
        name, _, version = folder.name.removesuffix(".dist-info").rpartition("-")
        record = folder / "RECORD"
        found[re.sub(r"[-_.]+", "-", name).lower()] = version if record.exists() else "broken"
    return found


def python_version(root: Path) -> "str | None":
    program = "import platform; print(platform.python_version())"
    try:
        answer = subprocess.run(
            [root / "bin/python", "-c", program], capture_output=True, text=True, timeout=20
        )
    except OSError:
        return None
    return answer.stdout.strip() if answer.returncode == 0 else None


def digest(path: Path) -> "str | None":
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else None


root = Path(json.loads(sys.argv[1])["root"])
print(
    json.dumps(
        {
            "python": python_version(root),
            "lock": digest(root / "glmstead.lock"),
            "versions": installed(root),
        }
    )
)
