"""Half an hour of mixed traffic with a random fault every few minutes: no request is lost."""

import os
import random
import time
from collections.abc import Callable

import pytest

from tests.lab.faults.cluster import Cluster
from tests.lab.faults.table import Row

pytestmark = [pytest.mark.lab, pytest.mark.soak]
SOAK_S = float(os.environ.get("GLMSTEAD_TEST_SOAK_S", 1800))
SEED = int(os.environ.get("GLMSTEAD_TEST_SEED", time.time()))


def faults(cluster: Cluster) -> dict[str, Callable[[], object]]:
    """What may happen; each heals by itself."""

    def off_and_on() -> None:
        cluster.power("kill", cluster.worker)
        cluster.power("start", cluster.worker)

    return {
        "kill -9 of EngineCore": lambda: cluster.signal("head", "KILL", "^VLLM::EngineCore"),
        "SIGSTOP of EngineCore": lambda: cluster.signal("head", "STOP", "^VLLM::EngineCore"),
        "kill -9 of the API server": lambda: cluster.signal("head", "KILL", "openai.api_server"),
        "kill -9 of the GCS": lambda: cluster.signal("head", "KILL", "gcs/gcs_server"),
        "kill -9 of a raylet": lambda: cluster.signal("worker", "KILL", "raylet/raylet "),
        "kill -9 of a rank": lambda: cluster.signal("worker", "KILL", "^ray::RayWorkerProc"),
        "kill -9 of the gateway": lambda: cluster.signal("head", "KILL", "gateway.serve"),
        "reboot of the worker": lambda: cluster.reboot([cluster.worker]),
        "power-off of the worker": off_and_on,
    }


def test_no_request_is_lost_in_half_an_hour_of_faults(cluster: Cluster, rows: list[Row]) -> None:
    chance, began = random.Random(SEED), time.time()
    done: list[str] = []
    known = faults(cluster)
    with cluster.traffic(clients=3) as traffic:
        while time.time() - began < SOAK_S:
            name = chance.choice(list(known))
            struck = time.time()
            known[name]()
            seconds = cluster.seconds_to_heal(struck, 600)
            done.append(f"{name}: {seconds:.0f} s")
            time.sleep(chance.uniform(20, 90))
    kinds = {kind: len(traffic.with_outcome(kind)) for kind in ("answered", "error", "lost")}
    print(f"seed {SEED}: {kinds}; {'; '.join(done)}")
    longest = max((one.ended - one.began for one in traffic.with_outcome("error")), default=0.0)
    what = f"soak: {len(done)} faults, {sum(kinds.values())} requests, {kinds['lost']} lost"
    rows.append(Row(what, "units", time.time() - began, cluster.restarts(began), longest))

    assert kinds["lost"] == 0, traffic.with_outcome("lost")
    assert cluster.left_behind() == {}
