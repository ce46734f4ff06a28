"""Pull request 38476 merged by anchor into real releases, with modules that stand in for its own."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.overlay_samples import MODULES
from tests.wheels.conftest import Released, verdicts

PROGRAM = Path(__file__).with_name("dispatch.py")
pytestmark = pytest.mark.wheels
TAGS = ["AMPERE_SPARSE_BACKEND", "AMPERE_SPARSE_PRIORITY", "AMPERE_SPARSE_INDEXER"]
TAGS += ["AMPERE_INDEXER_GUARD", "AMPERE_LAZY_INIT", "ABORT_RACE_FIX"]


def with_modules(place: Released) -> Released:
    for path, text in MODULES.items():
        file = place.folders[0] / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return place


def behaviour(place: Released, kind: str) -> dict[str, Any]:
    words = [sys.executable, str(PROGRAM), str(place.folders[0]), kind]
    run = subprocess.run(words, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    answer: dict[str, Any] = json.loads(run.stdout)
    return answer


@pytest.mark.parametrize("release", ["0.23.0", "0.24.0"])
def test_each_gpu_gets_its_kernels(release: str, released: Callable[..., Released]) -> None:
    place = with_modules(released(("vllm", release)))
    assert place.ask("apply", TAGS)["refused"] == []

    kernels = {kind: behaviour(place, kind)["kernels"] for kind in ("xpu", "deepgemm", "neither")}
    a100 = behaviour(place, "neither")

    assert kernels == {
        "xpu": ["xpu prefill", "xpu decode"],
        "deepgemm": ["deepgemm prefill", "deepgemm decode"],
        "neither": ["triton prefill", "triton decode"],
    }
    assert a100["backend"] == (
        "vllm.v1.attention.backends.mla.triton_mla_sparse.TritonMLASparseBackend"
    )
    assert a100["candidates"]["8.0"][-2:] == ["FLASHMLA_SPARSE", "TRITON_MLA_SPARSE"]
    assert a100["said"] == [
        "DeepGEMM not supported on this platform; using Triton fallback for sparse attention indexer"
    ]
    assert behaviour(place, "deepgemm")["said"] == []


@pytest.mark.parametrize("release", ["0.23.0", "0.24.0"])
def test_made_once_and_undone_to_the_byte(release: str, released: Callable[..., Released]) -> None:
    place = with_modules(released(("vllm", release)))
    stock = place.sources()

    assert {verdicts(place.ask())[tag] for tag in TAGS} == {"pending"}
    place.ask("apply", TAGS)
    patched = place.sources()
    place.ask("apply", TAGS)
    assert place.sources() == patched != stock
    place.ask("revert", TAGS)
    assert place.sources() == stock


def test_without_the_modules_nothing_is_written(released: Callable[..., Released]) -> None:
    place = released(("vllm", "0.23.0"))
    stock = place.sources()

    refused = place.ask("apply", TAGS)["refused"]

    assert len(refused) == 3
    assert all("set overlay_name and overlay_source" in line for line in refused)
    assert place.sources() == stock


def test_an_upgraded_release_is_refused_with_the_window(
    released: Callable[..., Released],
) -> None:
    place = with_modules(released(("vllm", "0.25.1")))
    stock = place.sources()

    refused = place.ask("apply", TAGS[:3])["refused"]

    assert place.sources() == stock
    assert [line.split(": ")[1] for line in refused] == ["unknown"] * 3
    assert "made for vllm >=0.23.0,<0.25.0: nothing is touched" in refused[0]


def test_stock_the_same_gpu_calls_deepgemm(released: Callable[..., Released]) -> None:
    """What the edits are for: without them an A100 is sent to kernels that end the process."""
    place = with_modules(released(("vllm", "0.23.0")))

    found = behaviour(place, "neither")

    assert found["kernels"] == ["deepgemm prefill", "deepgemm decode"]
    assert found["backend"] is None


def test_the_stand_ins_are_in_no_release(released: Callable[..., Released]) -> None:
    stock = released(("vllm", "0.23.0")).sources()

    assert [path for path in MODULES if path in stock] == []
