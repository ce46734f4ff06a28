"""LiteLLM's application behind our rules and the gate: plain ASGI, standard library only."""

import hmac
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from glmstead.gateway.figures import Figures
from glmstead.gateway.rules import SERVED, BadRequest, Limits, applied
from glmstead.gateway.sleep import Sleep

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

GATE_HEADER = b"x-glmstead-gate"
KEY_HEADERS = (b"authorization", b"x-api-key", b"api-key")
_READING = ("GET", "HEAD", "OPTIONS")
_RETRY_S = b"10"
_CLOSED = "the engine is starting, or has not answered its questions well: try again"
_MOST_BYTES = 32 * 2**20  # Anthropic's own limit; a million tokens are 4 MiB


class Gate:
    """Open while the gate's unit is active: it keeps a file there, and a token for itself."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder

    def lets_in(self, headers: dict[bytes, bytes]) -> bool:
        """Tell whether a request may pass; always without a folder."""
        if self.folder is None or (self.folder / "open").exists():
            return True
        shown = headers.get(GATE_HEADER, b"")
        try:
            token = (self.folder / "token").read_bytes()
        except OSError:
            return False
        return bool(token) and hmac.compare_digest(shown, token)


class Front:
    """The ASGI application that people reach."""

    def __init__(self, app: App, limits: Limits, gate: Gate, sleep: Sleep | None = None) -> None:
        self.app = app
        self.limits = limits
        self.gate = gate
        self.sleep = sleep or Sleep()
        self.figures = Figures()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection; what only reads goes through untouched."""
        path = str(scope.get("path", "")).rstrip("/")
        if scope["type"] != "http" or scope["method"] in _READING:
            return await self.app(scope, receive, send)
        if scope["method"] != "POST" or path not in SERVED:
            text = f"{scope['method']} {path} is not served here: send POST /v1/chat/completions"
            return await _refuse(send, path, 404, "not_found_error", text)
        with self.figures.request(path.rpartition("/")[2]) as seen:
            await self._answer(path, scope, receive, seen.watching(send))

    async def _answer(self, path: str, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        if not _shows_a_key(headers):
            # LiteLLM without a database says 500 to a request that has no key.
            text = "no key: send it as Authorization: Bearer KEY, or as x-api-key"
            return await _refuse(send, path, 401, "authentication_error", text)
        if not self.gate.lets_in(headers) and not await self.sleep.woken(
            headers, lambda: self.gate.lets_in(headers)
        ):
            return await _refuse(send, path, 503, "overloaded_error", _CLOSED)
        content = await _content(receive)
        if len(content) > _MOST_BYTES:
            text = f"the request is larger than {_MOST_BYTES >> 20} MiB: send less"
            return await _refuse(send, path, 413, "request_too_large", text)
        if not self.gate.lets_in(headers):  # it closed during a slow upload
            return await _refuse(send, path, 503, "overloaded_error", _CLOSED)
        try:
            content = _ruled(path, content, self.limits)
        except BadRequest as refusal:
            return await _refuse(send, path, 400, "invalid_request_error", str(refusal))
        self.sleep.used(headers)
        try:
            await self.app(_sized(scope, content), _replayed(content, receive), send)
        finally:
            self.sleep.used(headers)


def _shows_a_key(headers: dict[bytes, bytes]) -> bool:
    scheme, _, key = headers.get(b"authorization", b"Bearer ").partition(b" ")
    return bool(scheme and key.strip()) or any(headers.get(name) for name in KEY_HEADERS[1:])


def _ruled(path: str, content: bytes, limits: Limits) -> bytes:
    """The content after the rules; what is no JSON is LiteLLM's to refuse."""
    try:
        body = json.loads(content)
    except ValueError:
        return content
    except RecursionError:
        raise BadRequest("the JSON is nested too deep: send plain messages") from None
    if not isinstance(body, dict):
        raise BadRequest("the JSON is no object: send {...}")
    changed = applied(path, body, limits)
    return content if changed == body else json.dumps(changed).encode()


async def _content(receive: Receive) -> bytes:
    """The whole content; of one that is too large, all is read and no more than that is held."""
    content, more = bytearray(), True
    while more:
        message = await receive()
        if len(content) <= _MOST_BYTES:
            content += message.get("body", b"")
        more = message.get("more_body", False)
    return bytes(content)


def _replayed(content: bytes, receive: Receive) -> Receive:
    """``receive`` that gives the content first, then whatever comes: a client that leaves."""
    sent = False

    async def again() -> dict[str, Any]:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": content, "more_body": False}

    return again


def _sized(scope: Scope, content: bytes) -> Scope:
    kept = [pair for pair in scope["headers"] if pair[0] not in (b"content-length", GATE_HEADER)]
    return {**scope, "headers": [*kept, (b"content-length", str(len(content)).encode())]}


async def _refuse(send: Send, path: str, status: int, kind: str, text: str) -> None:
    """Answer in the error format of the client's wire format."""
    error = {"type": kind, "message": text}
    anthropic = path.endswith(("/messages", "/count_tokens"))
    document: dict[str, Any] = {"error": {**error, "param": None, "code": str(status)}}
    content = json.dumps({"type": "error", "error": error} if anthropic else document).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(content))]
    if status == 503:
        headers.append((b"retry-after", _RETRY_S))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})
