"""deploy and drift on whole fleets, started from another folder."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.plan.conftest import Fleet, Run

Door = Callable[..., Run]


@pytest.fixture
def glmstead(tmp_path: Path) -> Door:
    """Run the installed command in a folder that holds nothing of the project."""

    def run(*words: str | Path) -> Run:
        door = Path(sys.executable).with_name("glmstead")
        return subprocess.run(
            [door, *words], cwd=tmp_path, capture_output=True, text=True, check=False
        )

    return run


def test_a_bare_fleet_has_drifted_from_everything(
    glmstead: Door, fleet: Fleet, tmp_path: Path
) -> None:
    run = glmstead("drift", fleet("lab").name, "--json", "report.json")
    report = json.loads((tmp_path / "report.json").read_text())

    assert run.returncode == 2, run.stderr
    assert run.stdout.startswith("@fake/h1\n  Operating system | ")
    assert report["drift"] is True
    assert list(report["hosts"]) == ["@fake/h1", "@fake/h2"]
    assert "vLLM | vLLM has answered" in report["hosts"]["@fake/h1"]


def test_drift_with_a_host_that_is_down_cannot_be_told(glmstead: Door, fleet: Fleet) -> None:
    run = glmstead("drift", fleet("lab", down=True))

    assert run.returncode == 1
    assert run.stdout == ""
    assert run.stderr == (
        "could not tell: [h2] Could not connect "
        "([Errno None] Unable to connect to port 1 on 127.0.0.1)\n"
    )


@pytest.mark.parametrize("dry", [["--dry"], []], ids=["dry", "applied"])
def test_a_deploy_stops_at_a_host_that_is_down(
    glmstead: Door, fleet: Fleet, dry: list[str]
) -> None:
    run = glmstead("deploy", *dry, fleet("lab", down=True))

    assert run.returncode == 1
    assert "Could not connect" in run.stdout + run.stderr
    assert "Preparing operation files" not in run.stdout + run.stderr


def test_a_deploy_stops_at_an_unfit_host(glmstead: Door, fleet: Fleet) -> None:
    run = glmstead("deploy", fleet("lab", second={"memory": 1e9}))

    assert run.returncode == 1
    assert "1.0 GB of memory, 2 needed: use a larger host" in run.stdout + run.stderr
    assert "Operating system" not in run.stdout + run.stderr


def test_a_dry_deploy_shows_the_plan_and_changes_nothing(glmstead: Door, fleet: Fleet) -> None:
    run = glmstead("deploy", "--dry", fleet("lab"))

    assert run.returncode == 0, run.stderr
    assert "Detected changes" in run.stdout + run.stderr
    assert "Beginning operation run" not in run.stdout + run.stderr


def test_status_of_hosts_that_are_all_down_is_told(glmstead: Door, tmp_path: Path) -> None:
    path = tmp_path / "down.py"
    data = {"ssh_hostname": "127.0.0.1", "ssh_port": 1, "cluster_interface": "host0"}
    members = [(f"h{n}", {**data, "cluster_address": f"10.77.42.1{n}"}) for n in (1, 2)]
    groups = {"lab": members, "head": ["h1"], "worker": ["h2"], "gateway": ["h1"]}
    path.write_text("".join(f"{name} = {value!r}\n" for name, value in groups.items()))
    run = glmstead("status", path)

    assert run.returncode == 1
    assert "Traceback" not in run.stdout + run.stderr
    assert "h2 does not answer" in run.stdout
