"""What the gateway counts, as Prometheus reads it."""

import asyncio
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from glmstead.gateway.app import Front, Gate
from glmstead.gateway.figures import served
from glmstead.gateway.rules import Limits

BODY = b'{"model": "glm-5.2", "messages": [{"role": "user", "content": "Hello"}]}'
Read = dict[str, float]


class Gateway:
    """A front over an application that answers, falls over or is left by its client."""

    def __init__(self) -> None:
        self.front = Front(self._answer, Limits(), Gate(None))
        self.server = served(self.front.figures, 0)
        self.seen_while_running: Read = {}

    async def _answer(self, scope: Any, receive: Any, send: Any) -> None:
        self.seen_while_running = self.read()
        if scope["path"] == "/v1/responses":
            raise ConnectionError("left")
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"", "more_body": True})
        await send({"type": "http.response.body", "body": b"{}"})

    def post(self, path: str, key: bytes = b"sk-1") -> None:
        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": BODY, "more_body": False}

        async def send(message: dict[str, Any]) -> None:
            pass

        scope = {"type": "http", "method": "POST", "path": path, "headers": [(b"x-api-key", key)]}
        asyncio.run(self.front(scope, receive, send))

    def read(self) -> Read:
        url = f"http://127.0.0.1:{self.server.server_port}/metrics"
        with urllib.request.urlopen(url, timeout=10) as answer:
            lines = [line for line in answer.read().decode().splitlines() if line[0] != "#"]
        pairs = [line.rsplit(" ", 1) for line in lines]
        return {name.removeprefix("glmstead_gateway_"): float(value) for name, value in pairs}


@pytest.fixture
def gateway() -> Iterator[Gateway]:
    found = Gateway()
    yield found
    found.server.shutdown()


def test_requests_are_counted_by_kind_and_status(gateway: Gateway) -> None:
    gateway.post("/v1/messages")
    gateway.post("/v1/chat/completions")
    gateway.post("/v1/chat/completions", key=b"")
    with pytest.raises(ConnectionError):
        gateway.post("/v1/responses")
    gateway.post("/key/generate")  # makes no engine work
    found = gateway.read()

    assert found['requests_total{kind="messages",status="200"}'] == 1
    assert found['requests_total{kind="completions",status="200"}'] == 1
    assert found['requests_total{kind="completions",status="401"}'] == 1
    assert found['requests_total{kind="responses",status="0"}'] == 1
    assert sum(value for name, value in found.items() if "requests_total" in name) == 4


def test_what_runs_is_seen_while_it_runs(gateway: Gateway) -> None:
    gateway.post("/v1/messages")

    assert gateway.seen_while_running["requests_running"] == 1
    assert gateway.read()["requests_running"] == 0


def test_the_first_byte_counts_for_answers_only(gateway: Gateway) -> None:
    gateway.post("/v1/messages")
    gateway.post("/v1/messages", key=b"")
    found = gateway.read()

    assert found["first_byte_seconds_count"] == 1
    assert found['first_byte_seconds_bucket{le="+Inf"}'] == 1
    assert found['first_byte_seconds_bucket{le="300"}'] == 1
    assert found["first_byte_seconds_sum"] > 0


def test_figures_are_for_this_host_alone(gateway: Gateway) -> None:
    assert gateway.server.server_address[0] == "127.0.0.1"
