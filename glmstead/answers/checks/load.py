"""Under load: aborted streams leave the engine alive and its cache empty; speed of one stream."""

import asyncio
import re
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import httpx

from glmstead.answers.client import Client
from glmstead.answers.questions import CHAT, PRODUCT, READY, Question, long_log
from glmstead.answers.verdict import Verdict, figures_of, judged

_ROUNDS = 3
_GAUGES = re.compile(
    r"^vllm:(num_requests_running|num_requests_waiting|kv_cache_usage_perc)\{[^}]*\} (\S+)", re.M
)


async def aborts(
    client: Client, at_once: int, metrics: Client, bound_s: float = 60
) -> AsyncIterator[Verdict]:
    """Bursts of streams that are cut off while others run; then the engine answers and is idle."""
    bodies = [_endless(client.endpoint.model, number) for number in range(at_once * 2)]
    for number in range(1, _ROUNDS + 1):
        cut = asyncio.gather(*(_cut_off(client, body, i) for i, body in enumerate(bodies)))
        steady = [await client.put(PRODUCT, CHAT) for _ in range(2)]
        pieces = sum(await cut)
        row = steady[-1]
        why = next((why for one in steady if (why := PRODUCT.verdict(one))), None)
        why = why or (None if pieces else "no stream began, so none was cut off in its middle")
        what = f"beside burst {number}: {len(bodies)} cut off, {pieces} had begun"
        yield judged("aborts", client.endpoint.name, what, row, why)
    row = await client.put(READY, CHAT)
    yield judged("aborts", client.endpoint.name, "after the bursts", row, READY.verdict(row))
    yield await _idle(metrics, bound_s)


def _endless(model: str, number: int) -> dict[str, Any]:
    """A request that would stream 512 tokens whatever the model says."""
    text = f"{long_log(4, start=number * 31)}\nHello"
    body: dict[str, Any] = {"model": model, "messages": [{"role": "user", "content": text}]}
    return {**body, "stream": True, "max_tokens": 512, "temperature": 0, "ignore_eos": True}


async def _cut_off(client: Client, body: dict[str, Any], number: int) -> bool:
    """Abort a stream: every third at once, the others after their first piece."""
    with suppress(httpx.HTTPError, TimeoutError):
        async with asyncio.timeout(0.1 if number % 3 == 0 else 20):
            async with client.opened(CHAT, body) as reply:
                async for line in reply.aiter_lines():
                    if line.startswith("data:"):
                        return True
    return False


async def _idle(metrics: Client, bound_s: float) -> Verdict:
    """Requests and KV cache use go back to nothing, within the bound."""
    started = time.monotonic()
    while True:
        text = ""
        with suppress(httpx.HTTPError):  # an engine that hangs or died is a verdict too
            text = (await metrics.http.get(f"{metrics.endpoint.url}/metrics", timeout=10)).text
        gauges = {name: float(value) for name, value in _GAUGES.findall(text)}
        seconds = time.monotonic() - started
        idle = len(gauges) == 3 and not any(gauges.values())
        if idle or seconds > bound_s:
            shown = ", ".join(f"{name} {value:g}" for name, value in sorted(gauges.items()))
            evidence = shown or "no such figures in /metrics"
            figures = {"seconds": round(seconds, 1)}
            return Verdict("aborts", metrics.endpoint.name, "idle again", idle, evidence, figures)
        await asyncio.sleep(0.25)


async def speed(
    client: Client, prompt_lines: int, tokens: int, seed: int
) -> AsyncIterator[Verdict]:
    """TTFT, prefill and decode rate of one stream, after a warm-up, by usage counts."""
    for number in (0, 1):
        text = f"{long_log(prompt_lines, start=seed % 50_000 + number * 977)}\nHello"
        body = _endless(client.endpoint.model, 0) | {"max_tokens": tokens}
        body |= {"messages": [{"role": "user", "content": text}]}
        row = await client.send(CHAT, {**body, "stream_options": {"include_usage": True}})
    made = row["usage"].get("completion_tokens", 0)
    right = Question("speed", text).verdict({**row, "finish": None, "text": "", "reasoning": ""})
    why = right or (None if made == tokens else f"{made} of {tokens} tokens were made")
    evidence = why or "one stream, warm"
    figures = {} if row["error"] else figures_of(row)
    yield Verdict("speed", client.endpoint.name, f"{tokens} tokens", why is None, evidence, figures)
