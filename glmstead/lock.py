"""Hash-locked requirements: what a lock pins, as plain values."""

import re
from pathlib import Path

from packaging.markers import Marker
from packaging.utils import canonicalize_name

from glmstead import ROOT

LOCKS = ROOT / "files" / "locks"
_PIN = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^]]*\])?==([^\s;\\]+)(?:\s*;\s*([^\\]+?))?\s*\\?$")


def lock_path(name: str) -> Path:
    """Where the lock ``name`` lies in the project."""
    return LOCKS / f"{name}.txt"


def lock_text(name: str | None) -> str:
    """Text of the lock ``name``; empty for a route that has none."""
    return lock_path(name).read_text(encoding="utf-8") if name else ""


def pins(text: str, python: str) -> dict[str, str]:
    """``{canonical name: version}`` of the lines that hold on Linux with Python ``python``."""
    environment = {
        "python_version": python,
        "python_full_version": f"{python}.0",
        "sys_platform": "linux",
        "platform_system": "Linux",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
    }
    found = {}
    for line in text.splitlines():
        match = _PIN.match(line)
        if match and (not match[3] or Marker(match[3]).evaluate(environment)):
            found[str(canonicalize_name(match[1]))] = match[2]
    return found
