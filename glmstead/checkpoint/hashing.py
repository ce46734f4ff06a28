"""Digests of large files: in parallel, and remembered by size, mtime and inode.

Hubs' clients check sizes only (huggingface/huggingface_hub#3643), so the content is ours to check.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

from glmstead.checkpoint.listing import Folder, read_json, write_json

Digests = dict[str, str]
Found = tuple[Digests, list[int]]
"""Digests, and size, mtime and inode of the file that has them."""
_BLOCK = 1 << 20
_SMALL = 16 << 20  # git's blob id is asked of small files only


def digests_of(
    path: Path,
    count: Callable[[int], None] = lambda read: None,
    offset: int = 0,
    size: int | None = None,
) -> Digests:
    """Return sha256, and git's blob id where that is asked: of small files.

    ``count`` hears of every block's bytes; ``offset`` and ``size`` choose a range.
    """
    size = path.stat().st_size - offset if size is None else size
    hashes = {"sha256": hashlib.sha256()}
    if size <= _SMALL:
        hashes["git"] = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    block, left = memoryview(bytearray(_BLOCK)), size
    with path.open("rb", buffering=0) as stream:
        stream.seek(offset)
        while left and (read := stream.readinto(block[: min(_BLOCK, left)])):
            left -= read
            for one in hashes.values():
                one.update(block[:read])
            count(read)
    return {kind: one.hexdigest() for kind, one in hashes.items()}


class DigestCache:
    """What a folder's files were found to hold; safe to share between threads."""

    def __init__(self, folder: Folder, forget: bool = False) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._known = {} if forget else read_json(folder.verified)

    def get(self, name: str) -> Digests | None:
        """Return the digests of a file that has not changed since, else None."""
        known = self._known.get(name)
        stat = stat_of(self._folder.root / name)
        return known["digests"] if known and known["stat"] == stat else None

    def put(self, found: Mapping[str, Found]) -> None:
        """Remember, on disk at once: a killed run loses the files in hand, no other.

        Where nothing can be written, as in a folder lent read-only, this run alone remembers.
        """
        notes = {n: {"stat": stat, "digests": digests} for n, (digests, stat) in found.items()}
        with self._lock, suppress(OSError):
            self._known.update(notes)
            self._note(lambda known: known.update(notes))

    def drop(self, name: str) -> None:
        """Forget a file that is no longer there."""
        with self._lock:
            self._known.pop(name, None)
            self._note(lambda known: known.pop(name, None))

    def _note(self, change: Callable[[dict[str, Any]], object]) -> None:
        """Change what is on disk, other runs' notes kept: a verification may run beside a fetch."""
        self._folder.verified.parent.mkdir(parents=True, exist_ok=True)
        turn = os.open(self._folder.verified.parent, os.O_RDONLY)
        try:
            fcntl.flock(turn, fcntl.LOCK_EX)
            known = read_json(self._folder.verified)
            change(known)
            write_json(self._folder.verified, known, sync=False)
        finally:
            os.close(turn)

    def fill(self, names: Iterable[str], count: Callable[[int], None] = lambda read: None) -> None:
        """Hash what is not known, as many files at a time as there are processors."""

        def one(name: str) -> None:
            path = self._folder.root / name
            before = stat_of(path)
            digests = digests_of(path, count)
            if before is not None and stat_of(path) == before:
                self.put({name: (digests, before)})

        unknown = [name for name in names if self.get(name) is None]
        with ThreadPoolExecutor(max_workers=min(32, os.cpu_count() or 1)) as pool:
            list(pool.map(one, unknown))


def stat_of(path: Path) -> list[int] | None:
    """Size, mtime in ns and inode of a regular file, else None."""
    try:
        status = path.lstat()
    except OSError:
        return None
    regular = status.st_mode & 0o170000 == 0o100000
    return [status.st_size, status.st_mtime_ns, status.st_ino] if regular else None
