"""Questions with known answers, in both wire formats, and the judgement of what came back."""

from dataclasses import dataclass
from typing import Any

PASSPHRASE = "BLUE-WALRUS-7421-OMEGA"


@dataclass(frozen=True)
class Question:
    """A question and the text its answer must hold (``exact``: must be)."""

    name: str
    text: str
    expected: str
    exact: bool = False

    def verdict(self, answer: str) -> str | None:
        """None when right, else one line saying what is wrong."""
        if loops(answer):
            return f"loops: {answer[:80]!r}"
        right = answer.strip() == self.expected if self.exact else self.expected in answer
        return None if right else f"expected {self.expected!r}, got {answer[:80]!r}"


def long_log(lines: int) -> str:
    """A log of ``lines`` lines with the passphrase two thirds down."""
    log = [
        f"2026-01-0{i % 9 + 1} 12:{i % 60:02d}:00 INFO worker-{i % 7} "
        f"handled request {1000 + i * 7} in {i % 90} ms"
        for i in range(lines)
    ]
    log.insert(lines * 2 // 3, f"The passphrase is {PASSPHRASE}.")
    return "\n".join(log)


def loops(answer: str, times: int = 6) -> bool:
    """Whether one word stands ``times`` times in a row: the "France France France" failure."""
    words = answer.split()
    return any(len(set(words[i : i + times])) == 1 for i in range(max(0, len(words) - times + 1)))


def smoke_questions(long_lines: int) -> list[Question]:
    """The three questions that end every deploy."""
    return [
        Question("ready", "Reply with exactly: READY", "READY", exact=True),
        Question("product", "What is 17 multiplied by 24?", "408"),
        Question("passphrase", f"{long_log(long_lines)}\nWhat is the passphrase?", PASSPHRASE),
    ]


def wire_formats(questions: list[Question], model: str) -> list[dict[str, Any]]:
    """Each question as OpenAI chat and as Anthropic messages; the short ones are also streamed."""
    asks = []
    for question in questions:
        for path in ("/v1/chat/completions", "/v1/messages"):
            for stream in (False, True) if question.name == "ready" else (False,):
                body: dict[str, Any] = {
                    "model": model,
                    "messages": [{"role": "user", "content": question.text}],
                    "max_tokens": 64,
                    "temperature": 0,
                    "stream": stream,
                }
                name = f"{question.name} {path}{' streamed' if stream else ''}"
                asks.append({"name": name, "path": path, "body": body})
    return asks


def judge(questions: list[Question], rows: list[dict[str, Any]]) -> list[str]:
    """One line for each answer that is missing or wrong; empty when all are right."""
    by_name = {question.name: question for question in questions}
    lines = []
    for row in rows:
        question = by_name[row["name"].split()[0]]
        reason = row["error"] or question.verdict(row["text"])
        if reason:
            lines.append(f"{row['name']}: {reason}")
    return lines
