"""Where a package lies in this interpreter's environment, without importing it.

Importing vLLM needs torch and takes seconds; flashinfer.comm is what a patch repairs.

Sent to hosts: standard library only, Python 3.10 and newer.
"""

import importlib.metadata
import importlib.util
from pathlib import Path
from typing import NamedTuple


class Package(NamedTuple):
    """An installed package: its parent folder, who provides it, and the wheel's own hashes."""

    root: Path
    distribution: str | None
    release: str
    record: str
    """Text of the distribution's RECORD; empty for a source tree."""


def find_package(name: str, distributions: list[str], paths: list[str] | None) -> Package | None:
    """Locate a package on ``paths``, or on this interpreter's own; None: not installed."""
    folder = _on_paths(name, paths) if paths else _importable(name)
    if folder is None:
        return None
    for distribution in distributions:
        for found in _distributions(distribution, paths):
            root = Path(str(found.locate_file("")))
            record = found.read_text("RECORD") or ""
            # an editable install: the metadata stands elsewhere, and records no sources
            ours = root.samefile(folder.parent)
            return Package(folder.parent, distribution, found.version, record if ours else "")
    return Package(folder.parent, None, "", "")


def recorded_hash(package: Package, path: str) -> str | None:
    """Hash of a file as its wheel's RECORD states it (urlsafe base64, unpadded)."""
    start = ("\n" + package.record).find(f"\n{path},sha256=")
    if start < 0:
        return None
    return package.record[start:].split("\n", 1)[0].split(",")[1].partition("=")[2]


def _importable(name: str) -> Path | None:
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None
    # a namespace package is a stray folder: what is installed has an __init__.py
    if spec is None or spec.origin is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))


def _on_paths(name: str, paths: list[str]) -> Path | None:
    folders = (Path(path) / name for path in paths)
    return next((folder for folder in folders if (folder / "__init__.py").is_file()), None)


def _distributions(name: str, paths: list[str] | None) -> list[importlib.metadata.Distribution]:
    if paths:
        return list(importlib.metadata.distributions(name=name, path=paths))
    return list(importlib.metadata.distributions(name=name))
