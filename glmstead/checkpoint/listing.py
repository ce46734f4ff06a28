"""What a checkpoint consists of: paths, sizes and digests, as its source says; and where we note it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any

STATE = ".glmstead"
"""Folder beside the shards for everything that is not the model."""

_DIGESTS = re.compile(r"[0-9a-f]{64},([0-9a-f]{40})?|,[0-9a-f]{40}")


class CheckpointError(Exception):
    """Why a checkpoint cannot be had or used: one line with the fix."""


@dataclass(frozen=True)
class Entry:
    """A file: bytes, and sha256 or git's blob id (hubs know no sha256 of small files)."""

    size: int
    sha256: str = ""
    git: str = ""

    @property
    def key(self) -> str:
        """Name of the content, for partial files: another revision never resumes them."""
        return self.sha256 or self.git

    @property
    def keys(self) -> tuple[str, ...]:
        """Every name of the content: who knows one digest alone asks by that one."""
        return tuple(digest for digest in (self.sha256, self.git) if digest)

    def is_sound(self) -> bool:
        """Whether it says what it has to; digests become names of files."""
        digests = _DIGESTS.fullmatch(f"{self.sha256},{self.git}")
        return isinstance(self.size, int) and self.size >= 0 and digests is not None

    def matches(self, digests: Mapping[str, str]) -> bool:
        """Whether a file with these digests is the one meant; every known digest counts."""
        wanted = {"sha256": self.sha256, "git": self.git}
        known = {kind: digest for kind, digest in wanted.items() if digest}
        return bool(known) and all(digests.get(kind) == digest for kind, digest in known.items())


@dataclass(frozen=True)
class Listing:
    """All files of a checkpoint; ``origin`` is ``owner/name@commit`` or where else it comes from."""

    origin: str
    files: dict[str, Entry]

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(entry.size for entry in self.files.values())

    def document(self) -> dict[str, Any]:
        """The listing as JSON; equal listings give equal documents."""
        files = {path: asdict(entry) for path, entry in sorted(self.files.items())}
        return {"origin": self.origin, "files": files}

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Listing:
        """Return the listing of a document of whoever wrote it.

        Raises CheckpointError for paths that lead outside or cannot be told, and for what is no
        listing.
        """
        try:
            origin, files = document["origin"], dict(document["files"])
            entries = {str(path): Entry(**entry) for path, entry in files.items()}
        except (KeyError, TypeError, ValueError) as error:
            raise CheckpointError(f"no listing of files: {error!r}; fix: remove it") from error
        for path, entry in entries.items():
            pure = PurePosixPath(path)
            if pure.is_absolute() or ".." in pure.parts or pure.parts[:1] == (STATE,):
                raise CheckpointError(f"{origin}: refuses the path {path}; fix: leave it out")
            if not path.isprintable():
                raise CheckpointError(f"{origin}: refuses the path {path!a}; fix: rename it")
            if not entry.is_sound():
                raise CheckpointError(f"{origin}: {path} has no size or digest; fix: list it anew")
        return cls(str(origin), entries)


@dataclass(frozen=True)
class Folder:
    """A checkpoint's folder and the files that we keep in it."""

    root: Path

    @property
    def listing(self) -> Path:
        """What the source says; written before the first byte is fetched."""
        return self.root / STATE / "listing.json"

    @property
    def manifest(self) -> Path:
        """Path, size, sha256 and origin of every file; exists only when all are verified."""
        return self.root / STATE / "manifest.json"

    @property
    def verified(self) -> Path:
        """Digests by size, mtime and inode."""
        return self.root / STATE / "verified.json"

    @property
    def busy(self) -> Path:
        """What the run that holds the folder fetches, or whose listing it is finding out."""
        return self.root / STATE / "busy.json"

    @property
    def aside(self) -> Path:
        """Bad and foreign weights, taken out of the loader's sight."""
        return self.root / STATE / "aside"

    def part(self, entry: Entry) -> Path:
        """Where the content of ``entry`` grows until it is whole and verified."""
        return self.root / STATE / "parts" / entry.key


def xet_part(part: Path) -> Path:
    """Where Xet writes, which cannot resume: apart from what plain HTTP would append to."""
    return part.with_name(f"{part.name}.xet")


def read_json(path: Path) -> dict[str, Any]:
    """Return a JSON object, {} where there is none: a torn or lost note costs work, not truth."""
    try:
        document = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return document if isinstance(document, dict) else {}


def write_atomically(path: Path, text: str, sync: bool = True) -> None:
    """Replace a file by a whole new one; after a kill there is the old one or the new one.

    Without ``sync`` a power cut may leave an empty one, for what is only remembered.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.new")
    with new.open("w") as stream:
        stream.write(text)
        stream.flush()
        if sync:
            os.fsync(stream.fileno())
    new.replace(path)


def write_json(path: Path, document: Mapping[str, Any], sync: bool = True) -> None:
    """Replace a JSON file atomically."""
    write_atomically(path, json.dumps(document, indent=1, sort_keys=True) + "\n", sync)
