"""A benchmark as one HTML file that needs nothing else."""

from typing import Any

from glmstead.render import render

_WIDTH, _HEIGHT, _MARGIN = 640, 320, 60
_COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#8c564b")
_CHARTS = (("output_tok_s", "Decode, tokens/s, all streams"), ("ttft_p50_ms", "TTFT p50, ms"))


def page(receipt: dict[str, Any]) -> str:
    """Decode rate and TTFT over streams, a line a shape."""
    rows = [row for row in receipt["points"] if row["via"] == "direct"]
    charts = [{"title": title, **_chart(rows, figure)} for figure, title in _CHARTS]
    return render("benchmark.html.j2", receipt=receipt, charts=charts, width=_WIDTH, height=_HEIGHT)


def _chart(rows: list[dict[str, Any]], figure: str) -> dict[str, Any]:
    counts = sorted({row["streams"] for row in rows})
    top = max((row[figure] for row in rows), default=1) or 1
    step = (_WIDTH - 2 * _MARGIN) / max(1, len(counts) - 1)
    across = {count: _MARGIN + position * step for position, count in enumerate(counts)}

    def up(value: float) -> float:
        return round(_HEIGHT - _MARGIN - value / top * (_HEIGHT - 2 * _MARGIN), 1)

    lines = []
    shapes = dict.fromkeys((row["input_tokens"], row["output_tokens"]) for row in rows)
    for shape, colour in zip(shapes, _COLOURS, strict=False):
        points = [
            (round(across[row["streams"]], 1), up(row[figure]), row[figure])
            for row in rows
            if (row["input_tokens"], row["output_tokens"]) == shape
        ]
        lines.append({"shape": f"{shape[0]}/{shape[1]}", "colour": colour, "points": points})
    return {"lines": lines, "across": across, "floor": _HEIGHT - _MARGIN}
