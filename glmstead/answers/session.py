"""One validation as a program: a request on stdin, one JSON line a verdict on stdout.

A process of its own, because pyinfra's gevent replaces the sockets of the process it lives in.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from typing import Any

import httpx

from glmstead.answers.checks import load, long, short
from glmstead.answers.client import Client, Endpoint, Refused
from glmstead.answers.questions import CHAT, READY
from glmstead.answers.verdict import Verdict

PROFILES = ("quick", "full")


def checks_of(client: Client, request: dict[str, Any], whole: bool) -> list[AsyncIterator[Verdict]]:
    """The checks of a profile, in order; the second endpoint need not see the ``whole`` of it."""
    lines, seed = request["long_lines"], request["seed"]
    quick = [short.facts(client, lines), short.tools(client), short.thinking(client)]
    if request["profile"] == "quick":
        return quick
    at_once = min(request["at_once"], 16)
    texts = [long.recall(client)]
    texts += [long.needles(client, request["context"], request["longest"], seed)]
    return [
        *quick,
        short.parallel(client, at_once),
        *(texts if whole else []),
        load.speed(client, prompt_lines=4 * lines, tokens=64, seed=seed),
    ]


async def awake(client: Client) -> dict[str, Any]:
    """Return the served model's entry once the engine has answered; raises Refused if not."""
    served = await client.served()
    row = await client.put(READY, CHAT, max_tokens=8)
    if row["error"] and (row["status"] is None or row["status"] >= 500):
        where = f"{client.endpoint.name} {client.endpoint.url}"
        why = f"{where}: the engine does not answer, or is still loading ({row['error'][:160]})"
        raise Refused(f"{why}; fix: glmstead status says what runs")
    return served


async def verdicts(request: dict[str, Any]) -> AsyncIterator[Verdict]:
    """Every verdict on every endpoint, as it falls; raises Refused."""
    limits = httpx.Limits(max_connections=None)
    timeout = httpx.Timeout(request["timeout_s"], connect=10, pool=None)
    async with httpx.AsyncClient(timeout=timeout, limits=limits, trust_env=False) as http:
        clients = [Client(Endpoint(**one), http) for one in request["endpoints"]]
        for client in clients:
            served = await awake(client)
            _fits(request, served)
        for client in clients:
            for check in checks_of(client, request, whole=client is clients[0]):
                async for verdict in check:
                    yield verdict
        metrics = next((one for one in clients if one.endpoint.direct), None)
        if request["profile"] == "full" and metrics is not None:
            async for verdict in load.aborts(clients[0], request["at_once"], metrics):
                yield verdict


def _fits(request: dict[str, Any], served: dict[str, Any]) -> None:
    """Refuse a length that the engine does not have, as far as it says what it has."""
    context, longest = served.get("max_model_len"), request["longest"] or request["context"]
    if context is not None and longest > context:
        raise Refused(
            f"{longest} tokens asked, the engine serves {context}; fix: give --longest, "
            "or set vllm_max_model_len and deploy"
        )


async def main() -> int:
    """Run the request of stdin; 0 all right, 1 something wrong, 3 refused."""
    right = True
    try:
        async for verdict in verdicts(json.load(sys.stdin)):
            right = right and verdict.ok
            print(json.dumps(verdict.document), flush=True)
    except Refused as refusal:
        print(refusal, file=sys.stderr)
        return 3
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
