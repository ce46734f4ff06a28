"""Questions with known answers, in both wire formats, and the judgement of what came back."""

import re
from dataclasses import dataclass
from typing import Any

CHAT, MESSAGES = "/v1/chat/completions", "/v1/messages"
PASSPHRASE = "BLUE-WALRUS-7421-OMEGA"
_TAGS = re.compile(r"</?think>|</?tool_call>|<arg_(key|value)>")
_CUT = ("length", "max_tokens")
_CITY = {
    "type": "object",
    "properties": {"city": {"type": "string", "description": "City name"}},
    "required": ["city"],
}
_ABOUT = "Get the current weather for a city"


@dataclass(frozen=True)
class Question:
    """A question and the text its answer must hold (``exact``: must be).

    With ``city``, the answer must be a call of the tool get_weather for that city instead.
    """

    name: str
    text: str
    expected: str = ""
    exact: bool = False
    city: str | None = None
    thinks: bool = False

    def verdict(self, row: dict[str, Any]) -> str | None:
        """None when right, else one line saying what is wrong."""
        if row["error"]:
            return refusal_of(row["error"])
        return form_of(row, self.thinks) or self._content(row["text"], row["calls"])

    def _content(self, text: str, calls: list[dict[str, Any]]) -> str | None:
        if self.city is not None:
            good = [call["name"] for call in calls] == ["get_weather"]
            if good and self.city in str(calls[0]["arguments"].get("city")):
                return None
            return f"expected a call of get_weather for {self.city}, got {calls or text[:80]!r}"
        if calls:
            return f"expected {self.expected!r}, got a tool call: {calls!r}"
        right = text.strip() == self.expected if self.exact else self.expected in text
        return None if right else f"expected {self.expected!r}, got {text[:80]!r}"


def refusal_of(error: str) -> str:
    """An error as people read it; what has one known cause is told with its fix."""
    if "--tool-call-parser" in error:
        return "the engine has no tool parser; fix: set vllm_tool_call_parser and deploy"
    return error


def form_of(row: dict[str, Any], thinks: bool) -> str | None:
    """What is wrong with an answer of whatever content: loops, leaked tags, lost thinking."""
    for part in ("text", "reasoning"):
        if loops(row[part]):
            return f"loops: {row[part][:80]!r}"
    if row["finish"] in _CUT:
        return f"cut off by max_tokens, with {len(row['text'])} characters of content"
    if _TAGS.search(row["text"]):
        return f"tags in the text, a parser is missing or wrong: {row['text'][:80]!r}"
    if thinks and not row["reasoning"]:
        return "no reasoning, although thinking is on"
    if row["reasoning"] and not thinks:
        return f"reasoning, although thinking is off: {row['reasoning'][:80]!r}"
    return None


def long_log(lines: int, planted: dict[int, str] | None = None, start: int = 0) -> str:
    """A log of ``lines`` lines; ``planted``: sentences before the line of that number.

    ``start`` numbers the first line's request, so that no cache knows the text.
    """
    planted = planted or {}
    log = []
    for i in range(lines):
        log += [planted[i]] if i in planted else []
        log.append(
            f"2026-01-0{i % 9 + 1} 12:{i % 60:02d}:00 INFO worker-{i % 7} "
            f"handled request {1000 + start + i * 7} in {i % 90} ms"
        )
    return "\n".join(log)


def loops(answer: str, times: int = 6) -> bool:
    """Whether one to three words stand ``times`` times in a row: "France France France"."""
    words = answer.split()
    return any(
        words[start : start + size] * times == words[start : start + size * times]
        for size in (1, 2, 3)
        for start in range(max(0, len(words) - size * times + 1))
    )


READY = Question("ready", "Reply with exactly: READY", "READY", exact=True)
PRODUCT = Question("product", "What is 17 multiplied by 24?", "408")
SUM = Question("sum", "What is 123 + 456?", "579")
WEATHER = Question("weather", "What is the weather in Paris?", city="Paris")
THINKING = Question("thinking", READY.text, "READY", thinks=True)


def passphrase(lines: int) -> Question:
    """The question for the passphrase in a log of ``lines`` lines."""
    log = long_log(lines, {lines * 2 // 3: f"The passphrase is {PASSPHRASE}."})
    return Question("passphrase", f"{log}\nWhat is the passphrase?", PASSPHRASE)


def quick(long_lines: int, tools: bool, thinking: bool) -> list[tuple[Question, str, bool]]:
    """What ends every deploy: question, format, streamed; 7 to 10 of them, two or three seconds."""
    asked = [(READY, path, stream) for path in (CHAT, MESSAGES) for stream in (False, True)]
    asked += [(PRODUCT, CHAT, False), (SUM, MESSAGES, False)]
    asked += [(passphrase(long_lines), MESSAGES, False)]
    if tools:
        asked += [(WEATHER, CHAT, False), (WEATHER, MESSAGES, True)]
    if thinking:
        asked += [(THINKING, CHAT, False)]
    return asked


def body_of(
    question: Question, model: str, path: str, stream: bool, max_tokens: int = 64
) -> dict[str, Any]:
    """The request of a question; thinking has room enough to end before its budget does."""
    body: dict[str, Any] = {
        "model": f"{model}-thinking" if question.thinks else model,
        "messages": [{"role": "user", "content": question.text}],
        "max_tokens": 2048 if question.thinks else max_tokens,
        "temperature": 0,
        "stream": stream,
    }
    if stream and path == CHAT:
        body["stream_options"] = {"include_usage": True}
    if question.city is not None:
        body["tools"] = [weather_tool(path)]
    return body


def weather_tool(path: str) -> dict[str, Any]:
    """The tool get_weather as the format of ``path`` declares it."""
    if path == MESSAGES:
        return {"name": "get_weather", "description": _ABOUT, "input_schema": _CITY}
    function = {"name": "get_weather", "description": _ABOUT, "parameters": _CITY}
    return {"type": "function", "function": function}


def name_of(question: Question, path: str, stream: bool) -> str:
    """How a line of a report names a question."""
    return f"{question.name} {path}{' streamed' if stream else ''}"


def asks(asked: list[tuple[Question, str, bool]], model: str) -> list[dict[str, Any]]:
    """The requests of ``quick``, for ``ask``."""
    return [
        {"name": name_of(*one), "path": one[1], "body": body_of(one[0], model, *one[1:])}
        for one in asked
    ]


def judge(asked: list[tuple[Question, str, bool]], rows: list[dict[str, Any]]) -> list[str]:
    """One line for each answer that is missing or wrong; empty when all are right."""
    reasons = [one[0].verdict(row) for one, row in zip(asked, rows, strict=True)]
    return [f"{row['name']}: {why}" for row, why in zip(rows, reasons, strict=True) if why]
