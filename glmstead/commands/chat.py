"""``glmstead chat``: one question and its streamed answer, for the first hello after a deploy."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import httpx

from glmstead.answers.ask import NONSENSE, Answer, data_of
from glmstead.answers.questions import CHAT
from glmstead.commands.endpoint import endpoints, live
from glmstead.commands.plan import Refusal, inventory_argument

_MOST = {False: 2000, True: 8000}  # tokens of an answer, without and with thinking


@click.command()
@inventory_argument
@click.argument("prompt")
@click.option("--think", is_flag=True, help="Let the model think first; shown dimmed.")
@click.option("--max-tokens", type=click.IntRange(1), metavar="N", help="Most tokens to answer.")
def chat(inventory: Path, prompt: str, think: bool, max_tokens: int | None) -> None:
    """Put PROMPT to the endpoint of INVENTORY and show the answer as it comes.

    Exit status: 0 answered, 1 not.
    """
    found = live(inventory)
    with endpoints(found, "gateway", None, None) as (gateway,):
        body = {
            "model": gateway["model"] + ("-thinking" if think else ""),
            "messages": [{"role": "user", "content": prompt}],
            "max_tokens": max_tokens or min(_MOST[think], found.settings.vllm.max_model_len // 2),
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        answer, started = Answer(), time.monotonic()
        times: list[float] = []
        thought = False
        for kind, text in pieces(gateway, body, answer):
            times.append(time.monotonic())
            gap = "\n\n" if thought and kind == "text" else ""
            thought = kind == "reasoning"
            click.echo(gap + click.style(text, dim=thought), nl=False)
    click.echo("")
    click.echo(click.style(summary(answer.closed(), started, times), dim=True), err=True)


def pieces(gateway: dict[str, Any], body: dict[str, Any], answer: Answer) -> Iterator[Any]:
    """Yield ("reasoning" or "text", piece) as they come; raises Refusal in one line."""
    headers = {"Authorization": f"Bearer {gateway['key']}"}
    timeout = httpx.Timeout(600, connect=10)
    try:
        with httpx.stream(
            "POST", gateway["url"] + CHAT, json=body, headers=headers, timeout=timeout
        ) as reply:
            if reply.is_error:
                text = " ".join(reply.read().decode(errors="replace").split())[:300]
                why = f"{gateway['url']}: HTTP {reply.status_code}: {text}"
                raise Refusal(f"{why}; fix: glmstead status says what runs")
            yield from _grown(reply.iter_lines(), answer)
        if answer.row["finish"] is None:
            raise ValueError("the stream ended before the answer did")
    except (httpx.HTTPError, *NONSENSE) as error:
        why = f"{gateway['url']}: no answer ({type(error).__name__}: {error})"
        raise Refusal(f"{why}; fix: glmstead status says what runs") from error


def _grown(lines: Iterator[str], answer: Answer) -> Iterator[tuple[str, str]]:
    for line in lines:
        before = {kind: len(answer.row[kind]) for kind in ("reasoning", "text")}
        answer.event(data_of(line) or {})
        for kind, length in before.items():
            if answer.row[kind][length:]:
                yield kind, answer.row[kind][length:]


def summary(row: dict[str, Any], started: float, times: list[float]) -> str:
    """Usage, time to the first piece and rate, by the server's counts."""
    usage = row["usage"]
    given, made = usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0)
    first = times[0] - started if times else 0.0
    span = times[-1] - times[0] if times else 0.0
    rate = f", {(made - 1) / span:.1f} tok/s" if span and made > 1 else ""
    cut = ", cut off by --max-tokens" if row["finish"] == "length" else ""
    return f"{given} tokens in, {made} out, first after {first:.2f} s{rate}{cut}"
