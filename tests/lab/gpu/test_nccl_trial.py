"""The NCCL trial with real ranks: gloo stands in for NCCL, which no machine here has."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from glmstead import ROOT
from glmstead.lab.config import LabConfig

pytestmark = pytest.mark.lab

PROGRAM = ROOT / "files" / "libexec" / "nccl_trial.py"


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with torch, of the wheels that the lab's hosts install from."""
    wheels = LabConfig.from_environment().wheels
    folder = tmp_path_factory.mktemp("torch")
    subprocess.run(["uv", "venv", "--quiet", "--python", "3.11", folder], check=True)
    python = folder / "bin" / "python"
    source = ["--no-index", "--find-links", str(wheels)]
    subprocess.run(
        ["uv", "pip", "install", "--quiet", "--python", python, *source, "torch", "numpy"],
        check=True,
    )
    return python


def trial(python: Path, *candidates: dict[str, Any], **changed: Any) -> list[dict[str, Any]]:
    request = {
        "ranks": 2,
        "first": 0,
        "world": 2,
        "address": "127.0.0.1",
        "port": 29650,
        "declared": ["NCCL_P2P_LEVEL"],
        "limit_s": 120,
        "backend": "gloo",
        "candidates": candidates,
        **changed,
    }
    done = subprocess.run(
        [python, PROGRAM, json.dumps(request)],
        env={**os.environ, "NCCL_P2P_LEVEL": "PXB"},
        capture_output=True,
        text=True,
        timeout=400,
        check=True,
    )
    results: list[dict[str, Any]] = json.loads(done.stdout)["results"]
    return results


def test_two_ranks_give_figures_and_a_candidate_that_fails_says_why(python: Path) -> None:
    good, bad = trial(
        python,
        {"name": "plain", "env": {}},
        {"name": "no such interface", "env": {"GLOO_SOCKET_IFNAME": "nosuch0"}},
    )

    assert (good["status"], good["error"]) == ("ok", "")
    assert good["busbw_gb_s"] > 0
    assert good["latency_us"] > 0
    assert bad["status"] == "failed"
    assert "Unable to find address for: nosuch0" in bad["error"]
    assert bad["busbw_gb_s"] is None


def test_D1_a_hang_is_killed_and_is_a_result(python: Path) -> None:
    """One rank of two: it waits for the other for ever, as in a hanging P2P."""
    (alone,) = trial(python, {"name": "alone", "env": {}}, ranks=1, first=1, limit_s=15)

    assert (alone["status"], alone["error"]) == ("hung", "no end within 15 s")
    assert alone["seconds"] < 60
    left = subprocess.run(["pgrep", "-f", f"^{python} {PROGRAM}"], capture_output=True, check=False)
    assert left.stdout == b""
