"""The packages, files and verdicts of one Python environment, as found on a host.

Sent to hosts: standard library only, Python 3.10 and newer.
"""

import base64
import hashlib
import sys
from pathlib import Path
from typing import Any

from glmstead.patching.engine import Patch, carries, judge, paths, revert
from glmstead.patching.packages import Sources, find_packages, recorded_hash
from glmstead.patching.rules import Environment
from glmstead.patching.store import Origin, Store, digest
from glmstead.patching.verdicts import DRIFTED, HALF, Finding


class Installed:
    """What a request's patches meet here. ``sources`` shows our own outdated work as stock."""

    def __init__(self, request: dict[str, Any]) -> None:
        self.patches: list[Patch] = request["patches"]
        search: list[str] | None = request.get("paths")
        self.searched = search is not None
        self.python = "{}.{}.{}".format(*sys.version_info)
        self.packages = find_packages(self.patches, search)
        self.store = Store(Path(search[0] if search else sys.prefix) / ".glmstead" / "patches")
        self.on_disk = Sources(self.packages)
        self.sources = Sources(self.packages)
        self.outdated: dict[str, frozenset[str]] = {}
        self._stock = frozenset(path for path in self.paths() if self._is_stock(path))
        self._recover()

    def paths(self) -> set[str]:
        """Every file that a patch of the request changes."""
        return {path for patch in self.patches for path in paths(patch)}

    def folders(self, tags: list[str]) -> set[Path]:
        """Folders of the installed packages that these tags change."""
        names = {patch["package"] for patch in self.patches if patch["tag"] in tags}
        return {package.root / name for name in names if (package := self.packages[name])}

    def place(self, path: str) -> Path:
        """Where a path lies on this host; raises FileNotFoundError: no such package."""
        place = self.on_disk.place(path)
        if place is None:
            raise FileNotFoundError(f"{path}: its package is not installed here")
        return place

    def judge(self, patch: Patch) -> Finding:
        """The verdict of one patch here."""
        package = self.packages[patch["package"]]
        if package is None:
            return judge(patch, Environment(self.python), self.sources)
        found = Environment(self.python, package.distribution, package.release, self._stock)
        finding = judge(patch, found, self.sources)
        if any(patch["tag"] in self.outdated.get(path, ()) for path in paths(patch)):
            return finding._replace(reason="an older text of this patch, ours: apply renews it")
        return finding

    def row(self, patch: Patch) -> dict[str, Any]:
        """The verdict of one patch, with the file it is about."""
        finding, package = self.judge(patch), self.packages[patch["package"]]
        files = [self._file(path) for path in paths(patch)]
        return {
            "tag": patch["tag"],
            "package": package.distribution if package else patch["package"],
            "release": package.release if package else None,
            "file": files[0]["file"],
            "verdict": finding.verdict,
            "reason": finding.reason,
            "sha256": files[0]["sha256"],
            "flag": patch.get("flag"),
            "repairable": finding.repairable,
            "carried": any(carries(patch, path, self.on_disk[path]) for path in paths(patch)),
            "files": files,
        }

    def without_ours(self, path: str) -> bytes | None:
        """A file as it would be with every patch of the request undone."""
        data = self.sources[path]
        for patch in self.patches:
            if path in paths(patch):
                data = revert(patch, path, data)
        return data

    def _file(self, path: str) -> dict[str, Any]:
        place, data = self.on_disk.place(path), self.on_disk[path]
        return {
            "file": path,
            "path": str(place) if place else None,
            "sha256": None if data is None else digest(data),
            "stock": path in self._stock if data is not None else None,
            "changed_at": place.stat().st_mtime if place and data is not None else None,
        }

    def _is_stock(self, path: str) -> bool:
        package, data = self.packages.get(path.split("/", 1)[0]), self.without_ours(path)
        recorded = recorded_hash(package, path) if package else None
        if data is None or recorded is None:
            return False
        found = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
        return found.rstrip(b"=").decode() == recorded

    def _recover(self) -> None:
        """See through texts that an older release of this project wrote here."""
        tags = {patch["tag"] for patch in self.patches}
        for path in self.paths() - self._stock:
            origin = self._origin(path)
            if origin and origin.tags <= tags and self._is_strange(path):
                self.sources[path] = origin.stock
                self.outdated[path] = origin.tags

    def _origin(self, path: str) -> Origin | None:
        data = self.on_disk[path]
        return None if data is None else self.store.origin_of(data)

    def _is_strange(self, path: str) -> bool:
        ours = [patch for patch in self.patches if path in paths(patch)]
        return any(self.judge(patch).verdict in (DRIFTED, HALF) for patch in ours)
