"""Whole parts become files: each is hashed, and those that are right are made durable together.

One flush of a journal serves every file that waits for it, so small shards do not wait for one each.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from glmstead.checkpoint.hashing import DigestCache, Found, digests_of, stat_of
from glmstead.checkpoint.listing import CheckpointError, Folder, Listing

Event = Callable[[], None]


class Landing:
    """Checks parts in threads; what came of it is told by events, for the thread that asked.

    ``landed`` hears the names that are in place, ``refused`` a name whose content is wrong,
    ``failed`` what the disk refused. Call its methods from that one thread.
    """

    def __init__(
        self,
        folder: Folder,
        listing: Listing,
        cache: DigestCache,
        tell: Callable[[Event], None],
        landed: Callable[[list[str]], None],
        refused: Callable[[str], None],
        failed: Callable[[CheckpointError], None],
    ) -> None:
        self._folder, self._listing, self._cache, self._tell = folder, listing, cache, tell
        self._landed, self._refused, self._failed = landed, refused, failed
        self._right: dict[str, Found] = {}
        self._busy = False
        self._pool = ThreadPoolExecutor((os.cpu_count() or 1) + 1)

    def check(self, name: str) -> None:
        """Hash a whole part and put it in place; returns at once."""
        self._pool.submit(self._guarded, [name], lambda: self._hash(name))

    def stop(self) -> None:
        """Begin nothing more."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _guarded(self, names: list[str], work: Event) -> None:
        try:
            work()
        except OSError as error:
            problem = CheckpointError(f"{self._folder.root / names[0]}: {error}")
            self._tell(lambda: self._failed(problem))

    def _hash(self, name: str) -> None:
        entry = self._listing.files[name]
        part = self._folder.part(entry)
        stat = stat_of(part)
        digests = digests_of(part) if stat else {}
        if stat and entry.matches(digests):
            self._tell(lambda: self._is_right(name, (digests, stat)))
        else:
            part.unlink(missing_ok=True)
            self._tell(lambda: self._refused(name))

    def _is_right(self, name: str, found: Found) -> None:
        self._right[name] = found
        self._settle()

    def _settle(self) -> None:
        if self._busy or not self._right:
            return
        batch, self._right, self._busy = self._right, {}, True
        self._pool.submit(self._guarded, list(batch), lambda: self._put_in_place(batch))

    def _put_in_place(self, batch: dict[str, Found]) -> None:
        parts = {name: self._folder.part(self._listing.files[name]) for name in batch}
        for part in parts.values():
            with part.open("rb") as stream:
                os.fsync(stream.fileno())
        for name, part in parts.items():
            path = self._folder.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            part.chmod(0o644)
            part.replace(path)
            (self._folder.aside / name).unlink(missing_ok=True)
        self._cache.put(batch)
        self._tell(lambda: self._settled(list(batch)))

    def _settled(self, names: list[str]) -> None:
        self._busy = False
        self._landed(names)
        self._settle()
