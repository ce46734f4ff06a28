"""Short questions: exact answers, tool calls, thinking on and off, many at once."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from glmstead.answers.client import Client
from glmstead.answers.questions import (
    CHAT,
    THINKING,
    WEATHER,
    Question,
    body_of,
    name_of,
    quick,
)
from glmstead.answers.verdict import Verdict, judged

_SMALL = 16  # tokens: less than any thought needs


async def facts(client: Client, long_lines: int) -> AsyncIterator[Verdict]:
    """Short answers with an exact expectation, in every format, plain and streamed."""
    paths = client.endpoint.paths
    asked = [
        (question, path if path in paths else CHAT, stream)
        for question, path, stream in quick(long_lines, False, False)
    ]
    for question, path, stream in dict.fromkeys(asked):
        yield await _one(client, "facts", question, path, stream)


async def tools(client: Client) -> AsyncIterator[Verdict]:
    """A call of the right tool with the right argument, and an answer from what it returned."""
    for path in client.endpoint.paths:
        for stream in (False, True):
            yield await _one(client, "tools", WEATHER, path, stream)
        row = await client.send(path, returned(client.endpoint.model, path))
        question = Question("after the tool", "", "21")
        why = question.verdict(row)
        yield judged("tools", client.endpoint.name, name_of(question, path, False), row, why)


def returned(model: str, path: str) -> dict[str, Any]:
    """The request that gives the tool's result back."""
    body = body_of(WEATHER, model, path, stream=False)
    if path == CHAT:
        function = {"name": "get_weather", "arguments": '{"city": "Paris"}'}
        call = {"id": "call_1", "type": "function", "function": function}
        told = {"role": "tool", "tool_call_id": "call_1", "content": "sunny, 21 C"}
        turns = [{"role": "assistant", "content": None, "tool_calls": [call]}, told]
    else:
        name = {"id": "toolu_1", "name": "get_weather"}
        use = {"type": "tool_use", **name, "input": {"city": "Paris"}}
        result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "sunny, 21 C"}
        turns = [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    return {**body, "messages": [*body["messages"], *turns]}


async def thinking(client: Client) -> AsyncIterator[Verdict]:
    """Reasoning when asked for and none when not; a small budget leaves room for content."""
    for path in client.endpoint.paths:
        for stream in (False, True):
            yield await _one(client, "thinking", THINKING, path, stream)
    if client.endpoint.direct:
        return  # the rule that gives thinking room is the gateway's
    body = body_of(THINKING, client.endpoint.model, CHAT, stream=False) | {"max_tokens": _SMALL}
    row = await client.send(CHAT, body)
    why = THINKING.verdict(row)
    yield judged("thinking", client.endpoint.name, f"max_tokens {_SMALL}", row, why)


async def parallel(client: Client, at_once: int) -> AsyncIterator[Verdict]:
    """As many questions at once as the engine takes give the answers they give alone."""
    asked = [
        Question(f"{a} x {b}", f"What is {a} multiplied by {b}?", str(a * b))
        for a, b in zip(range(11, 11 + at_once), range(29, 29 - at_once, -1), strict=True)
    ]
    alone = [await client.put(question, CHAT) for question in asked]
    together = await asyncio.gather(*(client.put(question, CHAT) for question in asked))
    for question, one, other in zip(asked, alone, together, strict=True):
        why = question.verdict(other)
        if why is None and one["text"] != other["text"]:
            why = f"alone {one['text'][:60]!r}, among {at_once} {other['text'][:60]!r}"
        yield judged("parallel", client.endpoint.name, question.name, other, why)


async def _one(client: Client, check: str, question: Question, path: str, stream: bool) -> Verdict:
    row = await client.put(question, path, stream)
    what = name_of(question, path, stream)
    return judged(check, client.endpoint.name, what, row, question.verdict(row))
