"""What a hash-locked requirements file pins."""

import re
from functools import cache
from pathlib import Path

from packaging.utils import canonicalize_name

from glmstead import ROOT

LOCKS = ROOT / "files" / "locks"
_PIN = re.compile(
    r"^(?P<name>[A-Za-z0-9._-]+)(?:\[[^\]]*\])?==(?P<version>[^\s;\\]+)", re.MULTILINE
)


@cache
def pins(lock: str, folder: Path = LOCKS) -> dict[str, str] | None:
    """Return package -> version of ``files/locks/<lock>.txt``, None where there is no such file."""
    path = folder / f"{lock}.txt"
    if not path.is_file():
        return None
    found = _PIN.finditer(path.read_text(encoding="utf-8"))
    return {canonicalize_name(pin["name"]): pin["version"] for pin in found}
