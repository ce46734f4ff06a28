"""The points of a benchmark and the rows they give; pure."""

from dataclasses import dataclass
from statistics import median
from typing import Any

_RESULT = {
    "output_tok_s": "output_throughput",
    "total_tok_s": "total_token_throughput",
    "ttft_p50_ms": "median_ttft_ms",
    "ttft_p99_ms": "p99_ttft_ms",
    "tpot_p50_ms": "median_tpot_ms",
    "tpot_p99_ms": "p99_tpot_ms",
}
"""Figure of a row -> its name in the result of ``vllm bench serve``."""

FIGURES = tuple(_RESULT)
HEADER = (
    *("VIA", "IN/OUT", "STREAMS", "DECODE tok/s", "TOTAL tok/s"),
    *("TTFT p50 ms", "p99", "TPOT p50 ms", "p99", "FAILED"),
)


@dataclass(frozen=True)
class Point:
    """So many streams of so many tokens, through the gateway or directly."""

    via: str
    input_tokens: int
    output_tokens: int
    streams: int

    @property
    def name(self) -> str:
        """The same in two receipts."""
        return f"{self.via} {self.input_tokens}/{self.output_tokens} x{self.streams}"


def shape(text: str) -> tuple[int, int]:
    """``512/128`` as tokens in and out; raises ValueError."""
    given, made = (int(part) for part in text.split("/"))
    if given < 1 or made < 2:
        raise ValueError("tokens in and out: at least 1/2")
    return given, made


def plan(
    shapes: list[tuple[int, int]], long: tuple[int, int] | None, streams: list[int]
) -> list[Point]:
    """Direct points of every shape and stream count; a long text is asked by few at once.

    Then the first shape with the fewest streams through the gateway: its own cost.
    """
    points = [Point("direct", *one, count) for one in shapes for count in streams]
    if long is not None:
        points += [Point("direct", *long, count) for count in streams if count <= 4]
    return [*points, Point("gateway", *shapes[0], min(streams))]


def row(point: Point, results: list[dict[str, Any]]) -> dict[str, Any]:
    """The medians of a point's repeats; ``spread`` is their range as a share of the median."""
    figures = {name: [float(one[key]) for one in results] for name, key in _RESULT.items()}
    middles = {name: round(median(values), 2) for name, values in figures.items()}
    spread = {
        name: round((max(values) - min(values)) / median(values), 3) if median(values) else 0.0
        for name, values in figures.items()
    }
    return {
        "name": point.name,
        **vars(point),
        "repeats": len(results),
        "requests": sum(one["num_prompts"] for one in results),
        "failed": sum(one["num_prompts"] - one["completed"] for one in results),
        **middles,
        "spread": spread,
    }


def cells(row: dict[str, Any]) -> tuple[str, ...]:
    """A row as people read it."""
    return (
        row["via"],
        f"{row['input_tokens']}/{row['output_tokens']}",
        str(row["streams"]),
        *(f"{row[name]:.1f}" for name in FIGURES[:2]),
        *(f"{row[name]:.0f}" for name in FIGURES[2:]),
        str(row["failed"]),
    )


def overhead(rows: list[dict[str, Any]]) -> dict[str, float] | None:
    """What the gateway costs: TTFT in ms and decode in percent, against the same point direct.

    None where either point is not there, or had a request that failed.
    """
    by_name = {one["name"]: one for one in rows if not one["failed"]}
    for one in by_name.values():
        direct = by_name.get(one["name"].replace("gateway", "direct", 1))
        if one["via"] == "gateway" and direct is not None:
            slower = 1 - one["output_tok_s"] / direct["output_tok_s"]
            ttft = round(one["ttft_p50_ms"] - direct["ttft_p50_ms"], 1)
            return {"ttft_p50_ms": ttft, "output_tok_s_percent": round(100 * slower, 1)}
    return None
