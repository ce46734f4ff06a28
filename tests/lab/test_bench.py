"""``glmstead bench`` against the deployed lab: a small one, compared with itself."""

import json
from pathlib import Path

import pytest

from tests.lab.conftest import INVENTORY, Deployed

pytestmark = pytest.mark.lab


def test_a_small_benchmark_measures_compares_and_draws(deployed: Deployed, tmp_path: Path) -> None:
    receipt, page = tmp_path / "bench.json", tmp_path / "bench.html"
    words = ("--streams", "1,2", "--shape", "64/16", "--no-long", "--requests", "1")
    files = ("--repeats", "1", "--receipt", receipt, "--plot", page)
    done = deployed.run("glmstead", "bench", INVENTORY, *words, *files, timeout_s=400)

    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(receipt.read_text())
    names = ["direct 64/16 x1", "direct 64/16 x2", "gateway 64/16 x1"]
    assert [row["name"] for row in found["points"]] == names
    assert all(row["failed"] == 0 and row["output_tok_s"] > 0 for row in found["points"])
    assert found["gateway_overhead"].keys() == {"ttft_p50_ms", "output_tok_s_percent"}
    assert "gateway: TTFT " in done.stdout
    assert page.read_text().count("<svg") == 2

    for row in found["points"]:
        row["output_tok_s"] *= 100  # an old run that nothing now could match
        row["spread"] = dict.fromkeys(row["spread"], 0)
    found["versions"]["torch"] = "2.12.0"
    receipt.write_text(json.dumps(found))
    again = deployed.run(
        *("glmstead", "bench", INVENTORY, *words, "--repeats", "1", "--compare", receipt),
        timeout_s=400,
    )
    assert again.returncode == 1
    assert 'changed  versions.torch: "2.12.0" -> "2.13.0+cpu"' in again.stdout
    assert "SLOWER   direct 64/16 x1: output_tok_s " in again.stdout
