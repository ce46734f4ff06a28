"""The cluster's other hosts as sources: who is there, who has what, and files copied from them."""

from __future__ import annotations

import http.client
import json
import threading
import time
from pathlib import Path
from typing import Any

from glmstead.checkpoint.listing import CheckpointError, Entry, Listing

_POLL_S = 0.5
_BLOCK = 4 << 20
_GONE_AFTER = 4  # failed polls in a row
_SOON_S = 5.0  # in which the runs of all hosts start
_NO_ANSWER = (OSError, ValueError, KeyError, TypeError, http.client.HTTPException)


class Peers:
    """Keeps asking every peer (``ADDRESS:PORT``) for its state; safe to read from any thread."""

    def __init__(self, addresses: list[str], origin: str, stall_s: int) -> None:
        self.addresses, self._origin, self._stall_s = addresses, origin, stall_s
        self._states: dict[str, dict[str, Any]] = {}
        self._refused: set[tuple[str, str]] = set()
        self._stopped = threading.Event()
        self.began = time.monotonic()
        for address in addresses:
            threading.Thread(target=self._poll, args=(address,), daemon=True).start()

    def holders(self, key: str) -> list[str]:
        """Return the peers that have a file."""
        alive = self._alive()
        return [a for a, s in alive if key in s["keys"] and (a, key) not in self._refused]

    def busy(self) -> set[str]:
        """Return names of the files that peers are fetching."""
        return {name for _, state in self._alive() for name in state["busy"]}

    def working(self) -> bool:
        """Whether any peer is fetching, or may just be about to."""
        return self._soon() or any(state["working"] for _, state in self._alive())

    def telling(self) -> bool:
        """Whether any peer is finding out what the checkpoint consists of, or may be about to."""
        states = list(self._states.values())
        return self._soon() or any(state["telling"] == self._origin for state in states)

    def lost(self, address: str) -> None:
        """Take a peer for gone until it answers again."""
        self._states.pop(address, None)

    def refuse(self, address: str, key: str) -> None:
        """Never ask a peer for a file again that it believes to have and has not."""
        self._refused.add((address, key))

    def stop(self) -> None:
        """Ask no more."""
        self._stopped.set()

    def listing(self) -> Listing | None:
        """Return the listing of any peer that has the same origin."""
        for address in self.addresses:
            try:
                found = Listing.of(_get_json(address, "/listing"))
            except (*_NO_ANSWER, CheckpointError):
                continue
            if found.origin == self._origin:
                return found
        return None

    def copy(self, address: str, entry: Entry, part: Path) -> None:
        """Append what ``part`` lacks of a file; raises OSError when the peer fails or stalls."""
        host, _, port = address.rpartition(":")
        connection = http.client.HTTPConnection(host, int(port), timeout=self._stall_s)
        try:
            with part.open("ab") as target:
                if target.tell() > entry.size:
                    target.truncate(target.seek(0))
                start = f"bytes={target.tell()}-"
                connection.request("GET", f"/file/{entry.key}", headers={"Range": start})
                answer = connection.getresponse()
                if answer.status != 206:
                    raise OSError(f"{address} answers {answer.status}")
                block = memoryview(bytearray(_BLOCK))
                while read := answer.readinto(block):
                    target.write(block[:read])
                if target.tell() < entry.size:
                    raise OSError(f"{address} ended too early")
        except http.client.HTTPException as error:
            raise OSError(f"{address}: {error!r}") from error
        finally:
            connection.close()

    def _soon(self) -> bool:
        return bool(self.addresses) and time.monotonic() - self.began < _SOON_S

    def _alive(self) -> list[tuple[str, dict[str, Any]]]:
        return [(a, s) for a, s in list(self._states.items()) if s["origin"] == self._origin]

    def _poll(self, address: str) -> None:
        failed = 0
        while not self._stopped.wait(_POLL_S if failed or address in self._states else 0.05):
            try:
                self._states[address] = _state_of(_get_json(address, "/state"))
                failed = 0
            except _NO_ANSWER:
                failed += 1
                if failed >= _GONE_AFTER:
                    self.lost(address)


def _state_of(found: dict[str, Any]) -> dict[str, Any]:
    return {
        "origin": str(found["origin"]),
        "keys": frozenset(found["done"]),
        "busy": frozenset(found["busy"]),
        "working": bool(found["working"]),
        "telling": str(found["telling"]),
    }


def _get_json(address: str, path: str) -> dict[str, Any]:
    host, _, port = address.rpartition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=5)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        if answer.status != 200:
            raise OSError(f"{address} answers {answer.status}")
        document: dict[str, Any] = json.loads(answer.read())
        return document
    finally:
        connection.close()
