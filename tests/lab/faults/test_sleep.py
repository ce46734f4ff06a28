"""Scale to zero: an engine nobody uses is stopped, the next request starts it and is answered."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab.conftest import INVENTORY
from tests.lab.faults.cluster import Cluster
from tests.lab.faults.table import Row
from tests.lab.faults.traffic import ask

pytestmark = [pytest.mark.lab, pytest.mark.faults]
AFTER_S = 30.0


@pytest.fixture
def sleepy(cluster: Cluster, tmp_path: Path) -> Iterator[Cluster]:
    """The cluster with the setting on, and off again."""
    inventory = tmp_path / "sleepy.py"
    on = f"\nfor _name, _data in _hosts:\n    _data.update(idle_after_s={AFTER_S}, idle_wait_s=600)\n"
    inventory.write_text(INVENTORY.read_text() + on)
    cluster.lab.deploy(inventory)
    yield cluster
    cluster.lab.deploy()


def state(cluster: Cluster) -> str:
    return cluster.ssh(cluster.head, "systemctl is-active glmstead-vllm || true")


def asleep_within(cluster: Cluster, bound_s: float) -> None:
    deadline = time.monotonic() + bound_s
    while state(cluster) != "inactive":
        assert time.monotonic() < deadline, f"{state(cluster)} after {bound_s:g} s"
        time.sleep(1)


def test_it_sleeps_when_idle_and_wakes_for_a_request(sleepy: Cluster, rows: list[Row]) -> None:
    with sleepy.traffic(clients=1):
        time.sleep(AFTER_S + 20)
        used = state(sleepy)
    asleep_within(sleepy, AFTER_S + 60)
    status = sleepy.lab.run("glmstead", "status", INVENTORY)
    stranger = ask(sleepy.url, "sk-wrong", "Reply with exactly: READY", timeout_s=20)
    still = state(sleepy)
    began = time.time()
    answer = ask(sleepy.url, sleepy.key, "Reply with exactly: READY", timeout_s=600)
    seconds = time.time() - began
    rows.append(Row("asleep", "a request", seconds, sleepy.restarts(began), 0))

    assert used == "active"
    assert "Engine:  asleep" in status.stdout and status.returncode == 0
    assert stranger.status_code in (401, 503) and still == "inactive"
    assert answer.json()["choices"][0]["message"]["content"] == "READY"
