"""ABORT_RACE_FIX in the real scheduler: one request fails, the engine and the others go on."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from glmstead.patching.catalogue import load_catalogue
from tests.wheels import dropped_request

ENGINE = os.environ.get("GLMSTEAD_ENGINE_PYTHON")
pytestmark = [
    pytest.mark.wheels,
    pytest.mark.skipif(not ENGINE, reason="GLMSTEAD_ENGINE_PYTHON names no Python with vLLM"),
]


def run(which: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    patch = json.dumps(load_catalogue()["ABORT_RACE_FIX"].plain())
    words = [str(ENGINE), str(dropped_request.__file__), which]
    return subprocess.run(words, input=patch, cwd=folder, capture_output=True, text=True)


def test_stock_the_engine_dies_of_a_dropped_request(tmp_path: Path) -> None:
    assert run("stock", tmp_path).stderr.rstrip().endswith("KeyError: 'r1'")


def test_patched_only_that_request_fails_and_nothing_leaks(tmp_path: Path) -> None:
    answer = run("patched", tmp_path)

    assert json.loads(answer.stdout.splitlines()[-1]) == {
        "ends": {"r0": "None", "r1": "error", "r2": "None", "r3": "None"},
        "workers_forget": True,
        "unfinished": 0,
        "blocks_lost": 0,
    }
