"""Brings the missing files of a folder, from whoever has them: the hub, a local source, the peers.

Every host fetches its own share from the hub and copies the rest from its peers as they get it. A
host that is done early takes over what nobody is fetching, so a slow or dead one holds up nobody.
"""

from __future__ import annotations

import queue
import random
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from glmstead.checkpoint.disk import FIX, is_full
from glmstead.checkpoint.hashing import DigestCache, stat_of
from glmstead.checkpoint.hub_process import fix_for
from glmstead.checkpoint.landing import Landing
from glmstead.checkpoint.listing import (
    CheckpointError,
    Folder,
    Listing,
    write_json,
)
from glmstead.checkpoint.progress import Progress
from glmstead.checkpoint.sources import Sources, copier, next_for_hub, written

_TICK_S = 0.1
_TRIES = 3  # of one file with a source that delivers, but wrongly
_LONELY_S = 30.0  # without any source that moves
_FIX_OF_HUB = "check model_endpoint and model_revision, or set model_xet to False"
_FIX_OF_SOURCE = "mend what lies in model_directory"


class Transfer:
    """One run: a loop that hands out work to threads and to the hub's client."""

    def __init__(
        self, folder: Folder, listing: Listing, cache: DigestCache, sources: Sources
    ) -> None:
        self._folder, self._listing, self._cache, self._from = folder, listing, cache, sources
        self._events: queue.Queue[Callable[[], None]] = queue.Queue()
        self._pending: list[str] = []
        self._flying: dict[str, str] = {}  # name -> where it comes from
        self._checked: set[str] = set()  # of those: all there, and on the way to their place
        self._resumed: set[str] = set()  # copied from two sources: neither alone is to blame
        self._failures: Counter[str] = Counter()
        self._reached: dict[str, int] = {}
        self._last_error = ""
        self._fatal: CheckpointError | None = None
        self._bytes = 0  # of files that are in place
        self._landing = Landing(
            folder,
            listing,
            cache,
            tell=self._events.put,
            landed=self._landed,
            refused=self._wrong,
            failed=self._fail,
        )

    def run(self, missing: list[str]) -> None:
        """Bring every missing file; raises CheckpointError when a source cannot be trusted."""
        self._pending = list(missing)
        total = sum(self._listing.files[name].size for name in missing)
        progress = Progress("fetch", total)
        self._pool = ThreadPoolExecutor(self._from.streams)
        try:
            while self._pending or self._flying:
                self._hand_out()
                self._listen()
                progress.add(self._bytes + self._in_flight() - progress.done)
                self._watch(progress)
        finally:
            if self._from.hub:
                self._from.hub.stop()
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._landing.stop()
        progress.finish()

    def _hand_out(self) -> None:
        for name in [n for n in self._pending if self._is_whole(n)]:
            self._pending.remove(name)
            self._flying[name] = "part"
            self._check(name)
        local = [name for name in self._pending if name in self._from.local]
        for name in local[: self._free_streams()]:
            self._start(name, "local", self._from.local[name].copy_to)
        self._copy_from_peers()
        self._ask_the_hub()

    def _free_streams(self) -> int:
        copies = [n for n, w in self._flying.items() if w != "hub" and n not in self._checked]
        return max(0, self._from.streams - len(copies))

    def _copy_from_peers(self) -> None:
        peers = self._from.peers
        wanted = sorted(self._pending, key=lambda name: random.random())
        for name in wanted:
            if not self._free_streams():
                return
            entry = self._listing.files[name]
            holders = peers.holders(entry.key)
            if holders:
                load = Counter(self._flying.values())
                peer = min(holders, key=lambda address: (load[address], random.random()))
                self._start(name, peer, copier(peers, peer, self._listing, name))

    def _ask_the_hub(self) -> None:
        hub = self._from.hub
        while hub and hub.free():
            name = next_for_hub(self._from, self._listing, self._pending)
            if name is None:
                return
            self._pending.remove(name)
            self._flying[name] = "hub"
            self._tell_busy()
            entry = self._listing.files[name]
            hub.get(name, entry, self._folder.part(entry), self._answered)

    def _answered(self, name: str, error: str | None) -> None:
        self._events.put(lambda: self._arrived(name, "hub", error))

    def _start(
        self,
        name: str,
        whence: str,
        copy: Callable[[Path], None],
    ) -> None:
        self._pending.remove(name)
        self._flying[name] = whence
        (self._resumed.add if self._part_size(name) > 0 else self._resumed.discard)(name)

        def work() -> None:
            error = None
            try:
                copy(self._folder.part(self._listing.files[name]))
            except OSError as problem:
                error = str(problem)
            self._events.put(lambda: self._arrived(name, whence, error))

        self._pool.submit(work)

    def _arrived(self, name: str, whence: str, error: str | None) -> None:
        if self._flying.get(name) != whence:
            return  # a client that was stopped meanwhile
        if error is None:
            self._check(name)
            return
        peer = whence in self._from.peers.addresses
        if peer:
            self._from.peers.lost(whence)
        self._again(name, whence, error, counts=not peer)

    def _check(self, name: str) -> None:
        self._checked.add(name)
        self._landing.check(name)

    def _fail(self, problem: CheckpointError) -> None:
        self._fatal = problem

    def _wrong(self, name: str) -> None:
        whence = self._flying[name]
        peer = whence in self._from.peers.addresses
        if peer and name not in self._resumed:  # its disk lies to it; another may be right
            self._from.peers.refuse(whence, self._listing.files[name].key)
        self._again(name, whence, "wrong content", counts=not peer)

    def _landed(self, names: list[str]) -> None:
        for name in names:
            del self._flying[name]
            self._checked.remove(name)
            self._bytes += self._listing.files[name].size
            self._failures[name] = 0
        self._tell_busy()

    def _again(self, name: str, whence: str, why: str, counts: bool) -> None:
        self._flying.pop(name, None)
        self._checked.discard(name)
        self._pending.insert(0, name)
        self._last_error = f"{name}: {whence}: {why}"
        if is_full(why):
            where = self._folder.root
            self._fatal = CheckpointError(f"{where}: {self._last_error}; fix: {FIX}")
            return
        print(f"{self._last_error}; again", flush=True)
        reached = self._part_size(name)
        if reached > self._reached.get(name, 0):
            self._failures[name] = 0  # cut off, but further than before
        self._reached[name] = reached
        self._failures[name] += counts
        if self._failures[name] >= _TRIES:
            fix = fix_for(why, _FIX_OF_HUB) if whence == "hub" else _FIX_OF_SOURCE
            self._fatal = CheckpointError(f"{self._last_error}, {_TRIES} times; fix: {fix}")

    def _listen(self) -> None:
        try:
            self._events.get(timeout=_TICK_S)()
            while True:
                self._events.get_nowait()()
        except queue.Empty:
            pass
        if self._fatal:
            raise self._fatal

    def _watch(self, progress: Progress) -> None:
        # before a stalled hub is asked again: its files are on their way until then
        if not self._flying and self._pending and progress.idle_s() > _LONELY_S:
            last = f"; last: {self._last_error}" if self._last_error else ""
            raise CheckpointError(
                f"{self._pending[0]}: no source has it{last}; fix: look at the other hosts, or "
                "set model_fetch_on to all"
            )
        hub = self._from.hub
        if hub:
            stalled = hub.stalled(self._in_flight("hub"))
            asked = [n for n, w in self._flying.items() if w == "hub" and n not in self._checked]
            for name in asked if stalled else []:
                self._again(name, "hub", stalled, counts=False)

    def _is_whole(self, name: str) -> bool:
        return self._part_size(name) == self._listing.files[name].size

    def _in_flight(self, whence: str = "") -> int:
        names = [n for n, source in self._flying.items() if whence in ("", source)]
        parts = [self._folder.part(self._listing.files[name]) for name in names]
        return sum(written(part) for part in parts)

    def _part_size(self, name: str) -> int:
        stat = stat_of(self._folder.part(self._listing.files[name]))
        return stat[0] if stat else -1

    def _tell_busy(self) -> None:
        names = [name for name, whence in self._flying.items() if whence == "hub"]
        write_json(self._folder.busy, {"names": names}, sync=False)
