"""A client of one endpoint: asks, streams, measures by the server's own usage counts."""

import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from glmstead.answers.ask import EMPTY, NONSENSE, Answer, Row, data_of
from glmstead.answers.questions import CHAT, MESSAGES, Question, body_of


class Refused(Exception):
    """The endpoint cannot be asked at all; the message is one line with its fix."""


@dataclass(frozen=True)
class Endpoint:
    """Where to ask: the gateway as people reach it, or vLLM itself (``direct``)."""

    name: str
    url: str
    model: str
    key: str | None = field(default=None, repr=False)

    @property
    def direct(self) -> bool:
        """Whether this is vLLM without the gateway's models and rules."""
        return self.name == "direct"

    @property
    def paths(self) -> tuple[str, ...]:
        """The wire formats to ask in; the gateway serves both, vLLM is asked in its own."""
        return (CHAT,) if self.direct else (CHAT, MESSAGES)


class Client:
    """Questions to one endpoint; every answer is a row as of ``ask``, with times in seconds."""

    def __init__(self, endpoint: Endpoint, http: httpx.AsyncClient) -> None:
        self.endpoint = endpoint
        self.http = http

    async def put(
        self, question: Question, path: str, stream: bool = False, max_tokens: int = 64
    ) -> Row:
        """Ask a question."""
        body = body_of(question, self.endpoint.model, path, stream, max_tokens)
        return await self.send(path, body, question.thinks)

    async def send(self, path: str, body: dict[str, Any], thinks: bool = False) -> Row:
        """Send a request; an error becomes the row's ``error``, in one line."""
        started = time.monotonic()
        row: Row = {**EMPTY, "error": None, "status": None}
        try:
            row |= await self._answer(path, self._meant_for(body, thinks), started)
        except httpx.HTTPStatusError as error:
            text = " ".join(error.response.text.split())[:300]
            status = error.response.status_code
            row |= {"status": status, "error": f"HTTP {status}: {text}"}
        except (httpx.HTTPError, *NONSENSE) as error:
            row["error"] = f"{type(error).__name__}: {error}"
        row["seconds"] = round(time.monotonic() - started, 3)
        return row

    async def _answer(self, path: str, body: dict[str, Any], started: float) -> Row:
        answer, times = Answer(), []
        async with self.opened(path, body) as reply:
            if not body.get("stream"):
                return answer.whole(json.loads(await reply.aread()))
            async for line in reply.aiter_lines():
                if answer.event(data_of(line) or {}):
                    times.append(time.monotonic() - started)
        row = answer.closed()
        if times:
            row |= {"first_s": round(times[0], 4), "last_s": round(times[-1], 4)}
        return row

    @asynccontextmanager
    async def opened(self, path: str, body: dict[str, Any]) -> AsyncIterator[httpx.Response]:
        """Open an answer, raising httpx.HTTPStatusError for a refusal; leaving it aborts it."""
        headers = {"Authorization": f"Bearer {self.endpoint.key}"} if self.endpoint.key else {}
        url = self.endpoint.url + path
        async with self.http.stream("POST", url, json=body, headers=headers) as reply:
            if reply.is_error:
                await reply.aread()
            reply.raise_for_status()
            yield reply

    def _meant_for(self, body: dict[str, Any], thinks: bool) -> dict[str, Any]:
        """The gateway has a model that thinks and one that does not; vLLM takes an argument."""
        if not self.endpoint.direct:
            return body
        template = {"chat_template_kwargs": {"enable_thinking": thinks}}
        return {**body, "model": self.endpoint.model, **template}

    async def served(self) -> dict[str, Any]:
        """Return the model's entry in /v1/models; raises Refused in one line."""
        endpoint = self.endpoint
        headers = {"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}
        try:
            reply = await self.http.get(f"{endpoint.url}/v1/models", headers=headers, timeout=10)
        except httpx.HTTPError as error:
            why = f"{endpoint.name} {endpoint.url}: no answer ({type(error).__name__})"
            raise Refused(f"{why}; fix: glmstead status says what runs") from error
        if reply.status_code in (400, 401, 403):
            why = f"{endpoint.name} {endpoint.url}: the key is refused (HTTP {reply.status_code})"
            raise Refused(f"{why}; fix: leave --key-file out, or give the key of this gateway")
        if reply.is_error:
            why = f"{endpoint.name} {endpoint.url}: HTTP {reply.status_code}"
            raise Refused(f"{why}: {' '.join(reply.text.split())[:200]}; fix: glmstead status")
        try:
            models: dict[str, Any] = {one["id"]: one for one in reply.json()["data"]}
        except NONSENSE as error:
            why = f"{endpoint.name} {endpoint.url}: no list of models"
            raise Refused(f"{why}; fix: see what listens there, glmstead status") from error
        if endpoint.model not in models:
            why = f"{endpoint.name} {endpoint.url}: no model {endpoint.model}"
            raise Refused(f"{why}, it has {', '.join(sorted(models))}; fix: give --model")
        served: dict[str, Any] = models[endpoint.model]
        return served
