"""Hosts that reboot or lose power: the cluster is whole again when they are back."""

import time

import pytest

from tests.lab.faults.cluster import Cluster
from tests.lab.faults.table import Row

pytestmark = pytest.mark.lab
BACK_S = 480


def test_a_worker_that_lost_power_joins_again(cluster: Cluster, rows: list[Row]) -> None:
    def off_and_on() -> None:
        cluster.power("kill", cluster.worker)
        cluster.power("start", cluster.worker)

    row = cluster.breaks("power-off of the worker", off_and_on, BACK_S, healed_by="power, units")

    rows.append(row)
    assert row.longest_error_s < 120


@pytest.mark.faults
def test_a_worker_may_stay_away_for_two_minutes(cluster: Cluster, rows: list[Row]) -> None:
    def off_and_on() -> None:
        cluster.power("kill", cluster.worker)
        time.sleep(120)
        cluster.power("start", cluster.worker)

    row = cluster.breaks(
        "power-off of the worker for 2 min", off_and_on, BACK_S + 120, healed_by="power, units"
    )

    rows.append(row)
    assert row.longest_error_s < 120


@pytest.mark.faults
@pytest.mark.parametrize("which", ["worker", "head", "both hosts"])
def test_a_reboot_needs_nobody(cluster: Cluster, rows: list[Row], which: str) -> None:
    hosts = {"worker": [cluster.worker], "head": [cluster.head]}
    chosen = hosts.get(which, [cluster.head, cluster.worker])

    row = cluster.breaks(
        f"reboot of the {which}" if which in hosts else "reboot of both hosts at once",
        lambda: cluster.reboot(chosen),
        BACK_S,
    )

    rows.append(row)
