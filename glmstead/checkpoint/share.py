"""Lends verified files to the cluster's other hosts, over its private network, until nobody asks.

``/state`` names what is here, what is being fetched, whether a fetch runs and what it is finding
out; ``/listing`` is the listing; ``/file/KEY`` is a file by its digest, from a byte on. The receiver
checks every byte's hash, so the address alone decides who may ask.
"""

from __future__ import annotations

import json
import os
import re
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from glmstead.checkpoint.edits import CONFIG, QUANT, original
from glmstead.checkpoint.hashing import DigestCache, digests_of
from glmstead.checkpoint.listing import Folder, Listing, read_json
from glmstead.checkpoint.lock import is_locked
from glmstead.checkpoint.verify import known_listing

_CHUNK = 16 << 20


class Share(ThreadingHTTPServer):
    """The server of one folder; ``allow`` holds addresses of clients."""

    daemon_threads = True

    def __init__(self, folder: Folder, address: tuple[str, int], allow: tuple[str, ...]) -> None:
        self.folder, self.allow = folder, allow
        self.asked = time.monotonic()
        super().__init__(address, _Handler)

    def serve_until_idle(self, idle_s: float) -> None:
        """Serve; return when nobody has asked for so long, and no file is on its way."""

        def watch() -> None:
            while time.monotonic() - self.asked < idle_s:
                time.sleep(min(0.5, idle_s / 4))
            self.shutdown()

        threading.Thread(target=watch, daemon=True).start()
        self.serve_forever(poll_interval=0.2)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that went away: a killed fetch is no fault of this host."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)

    def state(self) -> dict[str, Any]:
        """What this host can give, and what it is about."""
        listing = known_listing(self.folder)
        working = is_locked(self.folder)
        busy = read_json(self.folder.busy) if working else {}
        return {
            "origin": listing.origin if listing else "",
            "done": sorted(held(self.folder, listing)) if listing else [],
            "busy": busy.get("names", []),
            "working": working,
            "telling": busy.get("telling", ""),
        }


def held(folder: Folder, listing: Listing) -> dict[str, Path]:
    """Return ``{key: file}`` of what lies here verified; of a corrected file, the original.

    By each digest it has: who still has the hub's listing asks by git's id, where a manifest has both.
    """
    cache = DigestCache(folder)
    found = {
        key: folder.root / name
        for name, entry in listing.files.items()
        if entry.matches(cache.get(name) or {})
        for key in entry.keys
    }
    for name in (CONFIG, QUANT):
        entry, kept = listing.files.get(name), original(folder, name)
        if entry is not None and kept.exists() and entry.matches(digests_of(kept)):
            found |= dict.fromkeys(entry.keys, kept)
    return found


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Share

    def do_GET(self) -> None:
        self.server.asked = time.monotonic()
        if self.client_address[0] not in self.server.allow:
            self.send_error(403)
        elif self.path == "/state":
            self._json(self.server.state())
        elif self.path == "/listing":
            listing = known_listing(self.server.folder)
            self._json(listing.document() if listing else {})
        elif self.path.startswith("/file/"):
            self._file(self.path.rpartition("/")[2])
        else:
            self.send_error(404)

    def _json(self, document: dict[str, Any]) -> None:
        body = json.dumps(document).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _file(self, key: str) -> None:
        listing = known_listing(self.server.folder)
        path = held(self.server.folder, listing).get(key) if listing else None
        if path is None:
            self.send_error(404)
            return
        found = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        with path.open("rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            offset = min(int(found[1]), size) if found else 0
            self.send_response(206 if found else 200)
            self.send_header("Content-Length", str(size - offset))
            self.end_headers()
            self.wfile.flush()
            while offset < size:
                sent = os.sendfile(
                    self.connection.fileno(), stream.fileno(), offset, min(_CHUNK, size - offset)
                )
                if not sent:
                    return
                offset += sent
                self.server.asked = time.monotonic()

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: a copy of 141 shards asks often."""
