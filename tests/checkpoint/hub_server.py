"""A hub for the tests: the endpoints that huggingface_hub really asks, and every way to fail.

Large files (``.safetensors``) redirect to a storage path, as with LFS. ``faults`` holds, by file
name, what the next downloads of it do; each fault is used once.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

_PAGE = 3  # files a page of the tree, so that paging is always exercised
_CHUNK = 1 << 14


@dataclass
class Fault:
    """One bad download: ``kind`` is busy (429), cut, stall, or wrong; ``after`` bytes went well."""

    kind: str
    after: int = 0


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that were killed."""


class Hub(_Server):
    """Serves ``revisions``: {commit: {name: content}} of one repository."""

    def __init__(self, revisions: dict[str, dict[str, bytes]], address: str = "127.0.0.1") -> None:
        self.revisions = revisions
        self.faults: dict[str, list[Fault]] = {}
        self.sent: Counter[str] = Counter()
        self.tokens: set[str] = set()
        self.bytes_per_s: float | None = None
        self.token: str | None = None
        self.xet = False
        self.tree_status: int | None = None  # what lists of files answer; 0: nothing at all
        self.lock = threading.Lock()
        handler = type("Handler", (_Handler,), {"hub": self})
        super().__init__((address, 0), handler)
        # of another address, as real storage is: the client goes on asking its hub's own host
        self.storage = _Server((address, 0), handler)
        for server in (self, self.storage):
            threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def url(self) -> str:
        return url_of(self)

    @property
    def storage_url(self) -> str:
        """Of another name where there is one: old clients compare names without ports."""
        return url_of(self.storage).replace("127.0.0.1", "localhost")

    @property
    def total(self) -> int:
        """Bytes of files that went out."""
        return sum(self.sent.values())

    def next_fault(self, name: str) -> Fault | None:
        with self.lock:
            waiting = self.faults.get(name, [])
            return waiting.pop(0) if waiting else None


def url_of(server: ThreadingHTTPServer) -> str:
    host, port = server.server_address[:2]
    return f"http://{host!s}:{port}"


def is_large(name: str) -> bool:
    return name.endswith(".safetensors")


def key_of(name: str, content: bytes) -> str:
    if is_large(name):
        return hashlib.sha256(content).hexdigest()
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: Hub

    def do_HEAD(self) -> None:
        self._route(self._head)

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        if found := re.fullmatch(r"/storage/([0-9a-f]{40})/(.+)", path):
            self._download(found[1], unquote(found[2]))
        elif found := re.fullmatch(r"/api/models/[^/]+/[^/]+/tree/([0-9a-f]{40})", path):
            if self._may():
                self._tree(found[1])
        elif re.search("/xet-read-token/", path):
            expires = str(int(time.time()) + 3600)
            cas = {"X-Xet-Cas-Url": f"{self.hub.url}/cas", "X-Xet-Access-Token": "x"}
            self._reply(200, b"{}", {**cas, "X-Xet-Token-Expiration": expires})
        elif path.startswith("/cas/"):
            time.sleep(600)  # a Xet store that takes every question and answers none
        else:
            self._route(lambda commit, name, content: self._download(commit, name))

    def _route(self, answer: Callable[[str, str, bytes], None]) -> None:
        path = urlsplit(self.path).path
        found = re.fullmatch(r"/[^/]+/[^/]+/resolve/([0-9a-f]{40})/(.+)", path)
        commit, name = (found[1], unquote(found[2])) if found else ("", "")
        content = self.hub.revisions.get(commit, {}).get(name)
        if content is None:
            self._reply(404, b"", {"X-Error-Code": "EntryNotFound"})
        elif self._may():
            answer(commit, name, content)

    def _may(self) -> bool:
        given = self.headers.get("Authorization", "").removeprefix("Bearer ")
        if given:
            self.hub.tokens.add(given)
        if self.hub.token in (None, given):
            return True
        self._reply(401, b"", {"X-Error-Code": "GatedRepo", "X-Error-Message": "gated"})
        return False

    def _head(self, commit: str, name: str, content: bytes) -> None:
        key = key_of(name, content)
        headers = {"X-Repo-Commit": commit, "ETag": f'"{key}"'}
        if not is_large(name):
            self._reply(200, None, {**headers, "Content-Length": str(len(content))})
            return
        linked = {"X-Linked-Etag": f'"{key}"', "X-Linked-Size": str(len(content))}
        if self.hub.xet:
            route = f"{self.hub.url}/api/models/a/b/xet-read-token/{commit}"
            linked |= {"X-Xet-Hash": key, "X-Xet-Refresh-Route": route}
        location = {
            "Location": f"{self.hub.storage_url}/storage/{commit}/{name}",
            "Content-Length": "0",
        }
        self._reply(302, None, {**headers, **linked, **location})

    def _tree(self, commit: str) -> None:
        if self.hub.tree_status == 0:
            time.sleep(600)
        if self.hub.tree_status:
            self._reply(self.hub.tree_status, b"", {"Location": f"{self.hub.url}{self.path}"})
            return
        files = self.hub.revisions.get(commit)
        if files is None:
            self._reply(404, b"", {"X-Error-Code": "RevisionNotFound"})
            return
        query = urlsplit(self.path).query
        start = int(query.rpartition("cursor=")[2]) if "cursor=" in query else 0
        names = sorted(files)
        page = [_described(name, files[name]) for name in names[start : start + _PAGE]]
        headers = {"Content-Type": "application/json"}
        if start + _PAGE < len(names):
            here = f"{self.hub.url}{urlsplit(self.path).path}?recursive=true"
            headers["Link"] = f'<{here}&cursor={start + _PAGE}>; rel="next"'
        self._reply(200, json.dumps(page).encode(), headers)

    def _download(self, commit: str, name: str) -> None:
        content = self.hub.revisions[commit][name]
        fault = self.hub.next_fault(name)
        if fault and fault.kind == "busy":
            self._reply(429, b"", {"Retry-After": "1"})
            return
        if fault and fault.kind == "wrong":
            content = bytes([content[0] ^ 1]) + content[1:]
        found = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        start = int(found[1]) if found else 0
        self.send_response(206 if found else 200)
        if found:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        self._body(name, content, start, fault)

    def _body(self, name: str, content: bytes, start: int, fault: Fault | None) -> None:
        stop = len(content)
        if fault and fault.kind in ("cut", "stall"):
            stop = min(stop, start + fault.after)
        try:
            for offset in range(start, stop, _CHUNK):
                chunk = content[offset : min(stop, offset + _CHUNK)]
                self.wfile.write(chunk)
                with self.hub.lock:
                    self.hub.sent[name] += len(chunk)
                if self.hub.bytes_per_s:
                    time.sleep(len(chunk) / self.hub.bytes_per_s)
            if fault and fault.kind == "stall":
                time.sleep(600)
        except OSError:
            pass
        if stop < len(content):
            self.close_connection = True

    def _reply(self, status: int, body: bytes | None, headers: dict[str, str]) -> None:
        self.send_response(status)
        if body is not None:
            self.send_header("Content-Length", str(len(body)))
        for key, value in headers.items():
            self.send_header(key, value)
        self.end_headers()
        if body and self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


def _described(name: str, content: bytes) -> dict[str, Any]:
    described: dict[str, Any] = {"type": "file", "path": name, "size": len(content)}
    described["oid"] = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
    if is_large(name):
        described["lfs"] = {"oid": key_of(name, content), "size": len(content), "pointerSize": 134}
    return described
