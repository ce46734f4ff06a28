"""``glmstead bench``: vLLM's own benchmark against the live endpoint, as a table and a receipt."""

import json
import sys
from pathlib import Path
from typing import Any

import click

from glmstead import receipt as receipts
from glmstead.benchmark.compare import changed, slower
from glmstead.benchmark.measure import measured
from glmstead.benchmark.plot import page
from glmstead.benchmark.points import FIGURES, HEADER, Point, cells, overhead, plan, row, shape
from glmstead.commands.endpoint import Live, live
from glmstead.commands.plan import Refusal, file_option, inventory_argument
from glmstead.text_table import table

_LONG = 16_384  # tokens of the long shape, or half the context where that is less


def _shape(context: click.Context, parameter: click.Parameter, values: Any) -> Any:
    try:
        return [shape(value) for value in values]
    except ValueError as error:
        raise click.BadParameter("write tokens in and out as 512/128") from error


@click.command()
@inventory_argument
@click.option("--streams", default="1,4,8,16,32", show_default=True, metavar="N,N,...")
@click.option("--shape", "shapes", multiple=True, default=["512/128"], callback=_shape)
@click.option("--long/--no-long", default=True, help="Also a long text, by at most 4 at once.")
@click.option("--requests", type=click.IntRange(1), default=4, help="Requests a stream.")
@click.option("--repeats", type=click.IntRange(1), default=2, help="Runs a point; medians count.")
@click.option("--compare", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--noise",
    type=click.FloatRange(0),
    default=10,
    show_default=True,
    help="Percent; see --compare.",
)
@file_option("--receipt", "Write the receipt there.")
@file_option("--plot", "Write an HTML page there.")
def bench(inventory: Path, **options: Any) -> None:
    """Measure the endpoint of INVENTORY with vLLM's own ``vllm bench serve``, on its host.

    Every point is warmed up first. The gateway's own cost is measured in the same run.

    Exit status: 0 every request was answered (and nothing became slower, with --compare), 1 not.
    """
    old, streams = _receipt(options["compare"]), _counts(options["streams"])
    found = live(inventory)
    points = plan(options["shapes"], _long(found, options), streams)
    _refuse_too_long(found, points)
    rows = []
    for point, results in measured(found, points, options["requests"], options["repeats"]):
        rows.append(row(point, results))
        click.echo(f"{point.name}: {rows[-1]['output_tok_s']:.1f} tok/s", err=True)
    document = {
        **receipts.header("bench", inventory, found.settings, found.cluster),
        **receipts.found_on(found.state),
        "points": rows,
        "gateway_overhead": overhead(rows),
    }
    click.echo(table(HEADER, [cells(one) for one in rows]))
    _say_overhead(document["gateway_overhead"])
    if options["plot"]:
        options["plot"].write_text(page(document), encoding="utf-8")
    click.echo(f"receipt: {receipts.write(document, options['receipt'])}")
    worse = _compared(old, document, options["noise"] / 100) if old else []
    if failed := sum(one["failed"] for one in rows):
        raise Refusal(f"{failed} requests failed; fix: glmstead status says what runs")
    sys.exit(1 if worse else 0)


def _counts(text: str) -> list[int]:
    try:
        counts = sorted({int(part) for part in text.split(",")})
    except ValueError as error:
        raise Refusal(f"--streams {text}: no list of numbers; fix: such as 1,4,8") from error
    if counts[0] < 1:
        raise Refusal(f"--streams {text}: at least one stream; fix: such as 1,4,8")
    return counts


def _long(found: Live, options: dict[str, Any]) -> tuple[int, int] | None:
    given = min(_LONG, found.settings.vllm.max_model_len // 2)
    return (given, options["shapes"][0][1]) if options["long"] else None


def _refuse_too_long(found: Live, points: list[Point]) -> None:
    context = found.settings.vllm.max_model_len
    longest = max(point.input_tokens + point.output_tokens for point in points)
    if longest > context - 64:  # the template takes some
        raise Refusal(f"{longest} tokens do not fit the context of {context}; fix: a shorter shape")


def _receipt(path: Path | None) -> dict[str, Any] | None:
    if path is None:
        return None
    try:
        document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        for one in document["points"]:
            float(one["name"] and sum(one[figure] + one["spread"][figure] for figure in FIGURES))
    except (ValueError, LookupError, TypeError) as error:
        raise Refusal(f"{path}: no receipt of glmstead bench; fix: give one") from error
    return document


def _say_overhead(cost: dict[str, float] | None) -> None:
    if cost:
        slower = cost["output_tok_s_percent"]
        click.echo(f"\ngateway: TTFT {cost['ttft_p50_ms']:+.0f} ms, decode {-slower:+.1f} %")


def _compared(old: dict[str, Any], new: dict[str, Any], noise: float) -> list[str]:
    for line in changed(old, new):
        click.echo(f"changed  {line}")
    worse = slower(old, new, noise)
    for line in worse:
        click.echo(f"SLOWER   {line}")
    return worse
