"""Long texts: needles at rising lengths and depths, and recall over several turns."""

import random
from collections.abc import AsyncIterator
from typing import Any

from glmstead.answers.client import Client
from glmstead.answers.questions import CHAT, Question, long_log
from glmstead.answers.verdict import Verdict, judged

_COLOURS = ["BLUE", "RED", "GREEN", "PURPLE", "ORANGE", "YELLOW", "SILVER", "CRIMSON"]
_ANIMALS = ["WALRUS", "FALCON", "TIGER", "PANDA", "OTTER", "BADGER", "LYNX", "HERON"]
_GREEK = ["OMEGA", "ALPHA", "DELTA", "SIGMA", "GAMMA", "KAPPA", "ZULU", "TANGO"]
_TOKENS_A_LINE = 45.0  # until the server has counted; too many rather than too few
_NEAR = 0.85  # of the longest length that must have been reached, by the server's count
_ROOM = 256  # tokens kept for the question, the template and the answer
_ALL_DEPTHS_TO = 32_768  # tokens; longer ones take minutes each, so one depth a length


def lengths(context: int, longest: int | None = None) -> list[int]:
    """Prompt lengths to ask, tokens: doubling from 512, and the longest that fits."""
    last = min(longest or context, context - _ROOM)
    found = [512 * 2**step for step in range(32) if 512 * 2**step < last * 0.75]
    return [*found, last]


def depths(length: int, position: int) -> tuple[float, ...]:
    """Where the needle lies, as shares of the text."""
    every = (0.1, 0.5, 0.9)
    return every if length <= _ALL_DEPTHS_TO else (every[position % 3],)


async def needles(
    client: Client, context: int, longest: int | None, seed: int
) -> AsyncIterator[Verdict]:
    """One after another: a passphrase in a log that no cache has seen."""
    rng, rate = random.Random(seed), _TOKENS_A_LINE
    rising = lengths(context, longest)
    last = (rising[-1], depths(rising[-1], len(rising) - 1)[-1])
    for position, length in enumerate(rising):
        for depth in depths(length, position):
            secret = "-".join(
                (
                    rng.choice(_COLOURS),
                    rng.choice(_ANIMALS),
                    str(rng.randint(1000, 9999)),
                    rng.choice(_GREEK),
                )
            )
            lines = max(4, int(length / rate))
            start = rng.randrange(100_000)
            text = long_log(lines, {int(lines * depth): f"The passphrase is {secret}."}, start)
            question = Question("needle", f"{text}\nWhat is the passphrase?", secret)
            row = await client.put(question, CHAT, stream=True)
            counted = row["usage"].get("prompt_tokens", 0)
            rate = max(rate * 0.2, counted / lines) if counted else rate
            why = question.verdict(row)
            if why is None and (length, depth) == last and counted < length * _NEAR:
                why = f"the server counted {counted} tokens, {length} were meant"
            what = f"{counted or f'{length} meant'} tokens, depth {depth:.0%}"
            yield judged("needle", client.endpoint.name, what, row, why)


async def recall(client: Client, lines: int = 60) -> AsyncIterator[Verdict]:
    """Two conversations: two values told by a person, three hidden in a long log."""
    told = [
        Question("remember", "Remember the number 4821 and the colour teal."),
        Question("number", "What number did I ask you to remember?", "4821"),
        Question("colour", "What colour did I ask you to remember?", "teal"),
    ]
    planted = {
        lines // 6: "The launch code of project Falcon is 8841.",
        lines * 5 // 12: "The owner of project Tundra is Alice.",
        lines * 2 // 3: "The launch code of project Heron is 1207.",
    }
    log = long_log(lines, planted)
    hidden = [
        Question("falcon", f"{log}\nWhat is the launch code of project Falcon?", "8841"),
        Question("heron", "What is the launch code of project Heron?", "1207"),
        Question("tundra", "What is the owner of project Tundra?", "Alice"),
    ]
    for conversation in (told, hidden):
        async for verdict in _turns(client, conversation):
            yield verdict


async def _turns(client: Client, conversation: list[Question]) -> AsyncIterator[Verdict]:
    messages: list[dict[str, Any]] = []
    for number, question in enumerate(conversation, 1):
        messages.append({"role": "user", "content": question.text})
        body = {"model": client.endpoint.model, "messages": messages, "temperature": 0}
        row = await client.send(CHAT, {**body, "max_tokens": 64})
        messages = [*messages, {"role": "assistant", "content": row["text"]}]
        what = f"turn {number}: {question.name}"
        yield judged("recall", client.endpoint.name, what, row, question.verdict(row))
