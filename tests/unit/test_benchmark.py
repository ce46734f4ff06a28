"""What a benchmark measures, how two compare, and how one is drawn."""

import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from glmstead import ROOT
from glmstead.benchmark.compare import changed, slower
from glmstead.benchmark.plot import page
from glmstead.benchmark.points import HEADER, Point, cells, overhead, plan, row, shape
from glmstead.cli import main

POINT = Point("direct", 512, 128, 4)


def result(rate: float, completed: int = 16, ttft: float = 200.0) -> dict[str, Any]:
    """As vLLM's own benchmark says it."""
    return {
        "num_prompts": 16,
        "completed": completed,
        "output_throughput": rate,
        "total_token_throughput": rate * 5,
        "median_ttft_ms": ttft,
        "p99_ttft_ms": ttft * 2,
        "median_tpot_ms": 20.0,
        "p99_tpot_ms": 30.0,
    }


def receipt(*rows: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {
        "at": "2026-11-30T12:00:00+00:00",
        "route": "g4",
        "hosts": 2,
        "model": {"name": "GLM-5.2-FP8"},
        "versions": {"vllm": "0.28.0"},
        "flags": {"block-size": 64, "max-num-seqs": 8},
        "patches": ["DENSE_FALLBACK"],
        "points": list(rows),
        **changes,
    }


def test_the_plan_ends_with_the_gateway_s_own_cost() -> None:
    points = plan([(512, 128)], (16_384, 128), [1, 4, 8])

    assert [point.name for point in points] == [
        "direct 512/128 x1",
        "direct 512/128 x4",
        "direct 512/128 x8",
        "direct 16384/128 x1",
        "direct 16384/128 x4",
        "gateway 512/128 x1",
    ]


@pytest.mark.parametrize("text", ["512", "a/b", "0/128", "512/1", "1/2/3"])
def test_a_wrong_shape_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        shape(text)


def test_a_row_holds_medians_their_spread_and_what_failed() -> None:
    found = row(POINT, [result(100), result(110), result(90, completed=15)])

    assert found["output_tok_s"] == 100
    assert found["spread"]["output_tok_s"] == 0.2
    assert (found["requests"], found["failed"], found["repeats"]) == (48, 1, 3)
    assert dict(zip(HEADER[:4], cells(found), strict=False)) == {
        "VIA": "direct",
        "IN/OUT": "512/128",
        "STREAMS": "4",
        "DECODE tok/s": "100.0",
    }


def test_the_gateway_is_held_against_the_same_point_direct() -> None:
    direct = row(Point("direct", 512, 128, 1), [result(100, ttft=200)])
    gateway = row(Point("gateway", 512, 128, 1), [result(95, ttft=212)])

    assert overhead([direct, gateway]) == {"ttft_p50_ms": 12.0, "output_tok_s_percent": 5.0}
    assert overhead([gateway]) is None


@pytest.mark.parametrize("ended", ["direct", "gateway"])
def test_requests_that_failed_are_no_cost_of_the_gateway(ended: str) -> None:
    rows = [
        row(Point(via, 512, 128, 1), [result(0, completed=0) if via == ended else result(95)])
        for via in ("direct", "gateway")
    ]

    assert overhead(rows) is None


def test_an_engine_that_answered_nothing_has_no_speed_to_lose() -> None:
    dead = row(POINT, [result(0, completed=0, ttft=0)])

    assert slower(receipt(dead), receipt(dead), noise=0.1) == []


def test_what_differs_between_two_receipts_is_named() -> None:
    new = receipt(versions={"vllm": "0.29.0"}, flags={"block-size": 64}, patches=[])

    assert changed(receipt(), new) == [
        "flags.max-num-seqs: 8 -> not set",
        'patches: ["DENSE_FALLBACK"] -> []',
        'versions.vllm: "0.28.0" -> "0.29.0"',
    ]
    assert changed(receipt(), receipt()) == []


def test_only_what_is_worse_beyond_noise_and_spread_is_flagged() -> None:
    old = receipt(row(POINT, [result(100)]))

    assert slower(old, receipt(row(POINT, [result(95)])), noise=0.1) == []
    assert slower(old, receipt(row(POINT, [result(80, ttft=150)])), noise=0.1) == [
        "direct 512/128 x4: output_tok_s 100 -> 80 (20% worse)",
        "direct 512/128 x4: total_tok_s 500 -> 400 (20% worse)",
    ]
    assert slower(old, receipt(row(POINT, [result(65), result(95)])), noise=0.1) == []
    assert slower(old, receipt(row(Point("direct", 1, 2, 1), [result(1)])), noise=0.1) == []


def test_the_page_draws_every_point_and_stands_alone() -> None:
    rows = [row(Point("direct", 512, 128, n), [result(100.0 * n)]) for n in (1, 4)]
    text = page(receipt(*rows))

    assert "100.0" in text and "400.0" in text
    assert "http" not in text.replace("http://www.w3.org", "")
    for drawing in text.split("<svg")[1:]:
        ElementTree.fromstring("<svg" + drawing.split("</svg>")[0] + "</svg>")


def test_the_program_on_the_host_ends_with_who_asked(tmp_path: Path) -> None:
    package = tmp_path / "vllm/benchmarks"
    package.mkdir(parents=True)
    (package / "serve.py").write_text(
        "import sys, time\n"
        "def add_cli_args(parser): pass\n"
        "def main(arguments):\n"
        "    print('begun', flush=True)\n"
        "    time.sleep(600)\n"
    )
    words = [sys.executable, str(ROOT / "glmstead/probes/bench.py")]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        words, stdin=pipe, stdout=pipe, stderr=pipe, env={"PYTHONPATH": str(tmp_path)}
    ) as process:
        assert process.stdin and process.stderr
        process.stdin.write(b'{"points": [{"words": [], "repeats": 1}], "key": "k"}\n')
        process.stdin.flush()
        assert process.stderr.readline() == b"begun\n"
        process.stdin.close()
        try:
            assert process.wait(60) == 1
        finally:
            process.kill()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--shape", "512"], "write tokens in and out as 512/128"),
        (["--compare", "README.md"], "README.md: no receipt of glmstead bench; fix: give one"),
        (["--compare", "old.json"], "old.json: no receipt of glmstead bench; fix: give one"),
        (["--receipt", "/nowhere/x.json"], "/nowhere is no folder"),
        (["--plot", "/"], "'/' is a directory"),
        (["--noise", "-1"], "-1.0 is not in the range x>=0"),
        (["--streams", "one"], "--streams one: no list of numbers; fix: such as 1,4,8"),
    ],
)
def test_bad_options_are_one_line(words: list[str], said: str, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("no receipt\n")
    (tmp_path / "old.json").write_text('{"points": [{"name": "x", "spread": {}}]}')
    given = [str(tmp_path / word) if word[0] in "Ro" and "." in word else word for word in words]
    done = CliRunner().invoke(main, ["bench", str(ROOT / "inventories/lab.py"), *given])

    assert done.exit_code in (1, 2)
    assert said in done.stderr
    assert "Traceback" not in done.stderr
