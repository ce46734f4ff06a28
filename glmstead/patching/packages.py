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
from typing import Any, NamedTuple


class Package(NamedTuple):
    """An installed package: its parent folder, who provides it, and the wheel's own hashes."""

    root: Path
    distribution: str | None
    release: str
    record: str
    """Text of the distribution's RECORD; empty for a source tree."""


class Sources(dict[str, bytes | None]):
    """Files by path, relative to the folder of their package; read when first asked for."""

    def __init__(self, packages: dict[str, Package | None]) -> None:
        super().__init__()
        self._packages = packages

    def __missing__(self, path: str) -> bytes | None:
        place = self.place(path)
        self[path] = place.read_bytes() if place and place.is_file() else None
        return self[path]

    def place(self, path: str) -> Path | None:
        """Where a path lies on this host; None when its package is not installed."""
        package = self._packages.get(path.split("/", 1)[0])
        return package.root / path if package else None


def find_packages(
    patches: list[dict[str, Any]], paths: list[str] | None
) -> dict[str, Package | None]:
    """The packages that patches change, and those that their rules read, by name."""
    distributions: dict[str, set[str]] = {}
    for patch in patches:
        distributions.setdefault(patch["package"], set()).update(patch["releases"])
        for test in (test for rule in patch["rules"] for test in rule["when"]):
            if "file" in test:
                distributions.setdefault(test["file"].split("/", 1)[0], set())
    return {name: find_package(name, wanted, paths) for name, wanted in distributions.items()}


def find_package(
    name: str, distributions: Iterable[str], paths: list[str] | None
) -> Package | None:
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


def _metadata_folders(places: Iterable[Path], distributions: Iterable[str]) -> Iterable[Path]:
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
