"""Checks of the full profile against a small engine: each can fail, and none falls over."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest

from glmstead.answers.checks import load, long
from glmstead.answers.client import Client, Endpoint
from glmstead.answers.verdict import Verdict

Handler = Callable[[httpx.Request], httpx.Response]
GAUGES = "".join(
    f'vllm:{name}{{engine="0"}} 0.0\n'
    for name in ("num_requests_running", "num_requests_waiting", "kv_cache_usage_perc")
)


def verdicts_of(
    check: Callable[[Client], AsyncIterator[Verdict]], engine: Handler
) -> list[Verdict]:
    async def gathered() -> list[Verdict]:
        async with httpx.AsyncClient(transport=httpx.MockTransport(engine)) as http:
            client = Client(Endpoint("direct", "http://engine", "glm-5.2"), http)
            return [verdict async for verdict in check(client)]

    return asyncio.run(gathered())


def answered(text: str, prompt_tokens: int = 10, made: int = 4) -> dict[str, Any]:
    usage = {"prompt_tokens": prompt_tokens, "completion_tokens": made}
    message = {"content": text}
    choice = {"message": message, "delta": message, "finish_reason": "stop"}
    return {"choices": [choice], "usage": usage}


def reader(request: httpx.Request, tokens_a_line: int) -> httpx.Response:
    """Finds the passphrase, and counts so many tokens a line."""
    text = json.loads(request.content)["messages"][-1]["content"]
    found = re.findall(r"The passphrase is (\S+)\.", text)[0]
    document = answered(found, text.count("\n") * tokens_a_line)
    return httpx.Response(200, text=f"data: {json.dumps(document)}\n\n")


def test_needles_reach_the_longest_length_by_the_server_s_count() -> None:
    found = verdicts_of(
        lambda client: long.needles(client, 8192, None, seed=1), lambda r: reader(r, 30)
    )

    assert [one.ok for one in found] == [True] * 15
    assert found[-1].figures["prompt_tokens"] > 7900 * 0.95
    assert found[-1].what == f"{found[-1].figures['prompt_tokens']} tokens, depth 90%"


def test_a_server_that_counts_too_few_tokens_fails_the_longest_needle() -> None:
    found = verdicts_of(
        lambda client: long.needles(client, 1024, 512, seed=1), lambda r: reader(r, 0)
    )

    assert [one.ok for one in found] == [True, True, False]
    assert found[-1].evidence == "the server counted 0 tokens, 512 were meant"
    assert found[-1].what == "512 meant tokens, depth 90%"


def aborted(engine: Handler) -> list[Verdict]:
    return verdicts_of(lambda client: load.aborts(client, 2, client, bound_s=0), engine)


@pytest.mark.parametrize("streams", [True, False])
def test_aborts_that_cut_nothing_off_are_no_proof(streams: bool) -> None:
    def engine(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/metrics":
            return httpx.Response(200, text=GAUGES)
        if b"ignore_eos" in request.content:
            return httpx.Response(200 if streams else 400, text="data: {}\n\n")
        return httpx.Response(
            200, json=answered("408 READY" if b"17" in request.content else "READY")
        )

    found = aborted(engine)

    assert [one.ok for one in found] == [streams] * 3 + [True, True]
    assert streams or found[0].evidence == "no stream began, so none was cut off in its middle"


def test_an_engine_that_died_of_aborts_is_a_verdict() -> None:
    def engine(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    found = aborted(engine)

    assert [one.ok for one in found] == [False] * 5
    assert (found[-1].what, found[-1].evidence) == ("idle again", "no such figures in /metrics")


@pytest.mark.parametrize(
    "document",
    [[], "READY", {"choices": [{"message": None}]}, {"choices": []}, {"content": 5}, None],
)
def test_an_answer_in_no_known_form_is_a_wrong_answer(document: Any) -> None:
    found = verdicts_of(
        lambda client: long.recall(client), lambda _: httpx.Response(200, json=document)
    )

    assert len(found) == 6
    assert not any(one.ok for one in found)


def test_an_answer_of_no_tokens_is_a_wrong_answer() -> None:
    found = verdicts_of(
        lambda client: long.recall(client), lambda _: httpx.Response(200, json=answered("", made=0))
    )

    assert found[1].evidence == "expected '4821', got ''"
    assert "completion_tokens" not in found[1].figures
