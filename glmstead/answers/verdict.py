"""What a check found: one line a question, with its evidence and figures."""

from dataclasses import asdict, dataclass, field
from typing import Any

from glmstead.answers.ask import Row


@dataclass(frozen=True)
class Verdict:
    """One judged answer or fact; ``figures`` are numbers with their unit in the name."""

    check: str
    via: str
    what: str
    ok: bool
    evidence: str
    figures: dict[str, float] = field(default_factory=dict)

    @property
    def document(self) -> dict[str, Any]:
        """As it stands in a receipt."""
        return asdict(self)


def figures_of(row: Row) -> dict[str, float]:
    """Times and rates of an answer, by the server's usage counts and not by its chunks."""
    usage = row["usage"]
    figures = {"seconds": row["seconds"]}
    figures |= {
        name: usage[name] for name in ("prompt_tokens", "completion_tokens") if name in usage
    }
    first, last, made = row.get("first_s"), row.get("last_s"), usage.get("completion_tokens", 0)
    if first:
        figures["ttft_s"] = first
        figures["prefill_tok_s"] = round(usage.get("prompt_tokens", 0) / first, 1)
    if first and last > first and made > 1:
        figures["decode_tok_s"] = round((made - 1) / (last - first), 1)
    return figures


def judged(check: str, via: str, what: str, row: Row, why: str | None) -> Verdict:
    """The verdict on an answer; ``why`` is None when it is right."""
    shown = row["text"] or str(row["calls"])
    evidence = why if why is not None else f"{shown[:60]!r}"
    return Verdict(check, via, what, why is None, evidence, {} if row["error"] else figures_of(row))
