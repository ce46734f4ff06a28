"""The hub as a source: a client that is watched, and replaced when no byte comes any more."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from glmstead.checkpoint.hub_process import Hub, HubProcess
from glmstead.checkpoint.listing import CheckpointError, Entry, Folder

Answer = Callable[[str, "str | None"], None]
_RESTARTS = 5
_START_S = 60.0


class HubSource:
    """Fetches up to ``hub.workers`` files at a time; Xet first if wanted, plain HTTP after a stall."""

    def __init__(self, hub: Hub, folder: Folder, keep: tuple[int, ...] = ()) -> None:
        self._hub, self._folder, self._keep = hub, folder, keep
        self._xet = hub.xet
        self._client: HubProcess | None = None
        self._asked: dict[str, Answer] = {}
        self._bytes = 0
        self._moved = time.monotonic()
        self._restarts = 0
        self._started = 0.0

    def free(self) -> int:
        """How many more files it would take."""
        return self._hub.workers - len(self._asked)

    def get(self, name: str, entry: Entry, part: Path, answer: Answer) -> None:
        """Fetch a file into its part; ``answer`` hears how it went, from a thread."""
        if not self._asked:
            self._moved = time.monotonic()
        if self._client is None:
            self._started = time.monotonic()
            self._client = HubProcess(self._hub, self._folder, self._xet, self._heard, self._keep)
        self._asked[name] = answer
        self._client.get(name, entry, part)

    def stalled(self, in_flight: int) -> str:
        """Say why the client was stopped: dead, or no byte for too long; empty while it works.

        ``in_flight`` are the bytes of all its parts. What it was asked for is to be asked again.
        """
        now = time.monotonic()
        if in_flight != self._bytes:
            self._restarts = 0 if in_flight > self._bytes else self._restarts
            self._bytes, self._moved = in_flight, now
        if self._client is None or not self._asked:
            return ""
        if self._client.alive() and not self._client.ready and now - self._started < _START_S:
            self._moved = now
        # longer after each restart: a hub that asks for patience (429) is silent for a while
        patience = self._hub.stall_s * (1 + self._restarts)
        if self._client.alive() and now - self._moved < patience:
            return ""
        why = f"no bytes for {patience:g} s" if self._client.alive() else "its client died"
        self._restart(why)
        return why

    def stop(self) -> None:
        """End the client."""
        if self._client:
            self._client.stop()
            self._client = None
        self._asked.clear()

    def _restart(self, why: str) -> None:
        self.stop()
        self._restarts += 1
        self._moved = time.monotonic()
        if self._restarts > _RESTARTS:
            fix = "check the network and model_endpoint, then deploy again: it resumes"
            raise CheckpointError(f"{self._hub.origin}: {why}, {_RESTARTS} restarts; fix: {fix}")
        if self._xet:
            self._xet = False
            print(f"{self._hub.origin}: {why} with Xet; plain HTTP from here on", flush=True)

    def _heard(self, name: str, error: str | None) -> None:
        answer = self._asked.pop(name, None)
        if answer:
            answer(name, error)
