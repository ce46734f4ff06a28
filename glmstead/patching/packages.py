"""Where a package lies in this interpreter's environment, without importing it.

Importing vLLM needs torch and takes seconds; flashinfer.comm is what a patch repairs.
``importlib.metadata`` would answer too, and costs as much time as all the rest of a probe.

Sent to hosts: standard library only, Python 3.10 and newer.
"""

import importlib.util
import re
import sys
from collections.abc import Iterable
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
    root, elsewhere = folder.parent, map(Path, paths or sys.path)
    for metadata in _metadata_folders([root, *elsewhere], distributions):
        version = re.search(r"^Version: *(\S+)", _text(metadata / "METADATA"), re.MULTILINE)
        if version:
            # an editable install: the metadata stands elsewhere, and records no sources
            record = _text(metadata / "RECORD") if metadata.parent == root else ""
            return Package(root, _normal(metadata.name.split("-", 1)[0]), version[1], record)
    return Package(root, None, "", "")


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


def _metadata_folders(places: Iterable[Path], distributions: list[str]) -> Iterable[Path]:
    """The .dist-info folders of any of these distributions, in the order of the import path."""
    wanted = {_normal(name) for name in distributions}
    for place in dict.fromkeys(places):
        if place.is_dir():
            for folder in sorted(place.glob("*.dist-info")):
                if _normal(folder.name.split("-", 1)[0]) in wanted:
                    yield folder


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
