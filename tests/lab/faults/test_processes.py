"""Processes that die or hang: the whole job restarts once, by itself."""

import time

import pytest
from _pytest.mark.structures import ParameterSet

from tests.lab.conftest import INVENTORY
from tests.lab.faults.cluster import Cluster
from tests.lab.faults.table import Row

pytestmark = pytest.mark.lab
HEALED_S, HUNG_S = 420, 480
REST = pytest.mark.faults


def process(name: str, role: str, pattern: str, *marks: pytest.MarkDecorator) -> ParameterSet:
    """A process of the service user, found by a pattern in its command line."""
    return pytest.param(name, role, pattern, id=name.replace(" ", "-"), marks=marks)


ENGINE_CORE = ("head", "^VLLM::EngineCore")


@pytest.mark.parametrize(
    ("name", "role", "pattern"),
    [
        process("EngineCore", *ENGINE_CORE),
        process("GCS on the head", "head", "gcs/gcs_server", REST),
        process("raylet on the worker", "worker", "raylet/raylet ", REST),
        process("API server", "head", "vllm.entrypoints.openai.api_server", REST),
        process("raylet on the head", "head", "raylet/raylet ", REST),
        process("rank on the head", "head", "^ray::RayWorkerProc", REST),
        process("rank on the worker", "worker", "^ray::RayWorkerProc", REST),
    ],
)
def test_a_killed_process_restarts_the_whole_job_once(
    cluster: Cluster, rows: list[Row], name: str, role: str, pattern: str
) -> None:
    row = cluster.breaks(
        f"kill -9 of the {name}", lambda: cluster.signal(role, "KILL", pattern), HEALED_S
    )

    rows.append(row)
    assert row.restarts["vllm"] == row.restarts["ray-head"] == 1
    assert 1 <= row.restarts["ray-worker"] <= 2  # a killed worker joins, then follows the new head
    assert row.longest_error_s < 60


@pytest.mark.parametrize(
    ("name", "role", "pattern"),
    [
        process("EngineCore", *ENGINE_CORE),
        process("rank on the worker", "worker", "^ray::RayWorkerProc", REST),
        process("rank on the head", "head", "^ray::RayWorkerProc", REST),
        process("API server", "head", "vllm.entrypoints.openai.api_server", REST),
        process("raylet on the worker", "worker", "raylet/raylet ", REST),
    ],
)
def test_a_hang_is_noticed_and_the_whole_job_restarts_once(
    cluster: Cluster, rows: list[Row], name: str, role: str, pattern: str
) -> None:
    """The port is open, nothing moves."""
    before = set(cluster.evidence())

    def hang() -> None:
        began = time.time()
        cluster.signal(role, "STOP", pattern)
        if "raylet" in name:  # the ranks work on, until the head gives their host up
            cluster.until_restarted("vllm", began, HUNG_S)

    row = cluster.breaks(f"SIGSTOP of the {name}", hang, HUNG_S)

    rows.append(row)
    assert row.restarts["vllm"] == 1
    assert row.longest_error_s < 120
    if name == "EngineCore":
        (saved,) = set(cluster.evidence()) - before
        stacks = cluster.ssh(cluster.head, f"cat {saved}/stacks.txt")
        assert "core.py" in stacks


@pytest.mark.faults
def test_a_hung_gcs_interrupts_nobody_and_is_named(cluster: Cluster, rows: list[Row]) -> None:
    """vLLM needs it only to start; when it starts, Ray's head starts anew with it."""
    status = ("glmstead", "status", INVENTORY)

    def hang() -> None:
        cluster.signal("head", "STOP", "gcs/gcs_server")
        deadline = time.monotonic() + 60
        while "though the engine serves" not in cluster.lab.run(*status).stdout:
            assert time.monotonic() < deadline, "not named in 60 s"
            time.sleep(1)
        assert cluster.answers()

    def recover() -> None:
        done = cluster.lab.run("glmstead", "recover", INVENTORY, timeout_s=900)
        assert done.returncode == 0, done.stdout[-3000:]

    row = cluster.breaks("SIGSTOP of the GCS on the head", hang, HEALED_S, recover, "recover")

    rows.append(row)
    assert row.restarts == {"ray-head": 1, "ray-worker": 1, "vllm": 1}


@pytest.mark.faults
def test_a_killed_gateway_comes_back_alone(cluster: Cluster, rows: list[Row]) -> None:
    row = cluster.breaks(
        "kill -9 of the gateway",
        lambda: cluster.signal("head", "KILL", "glmstead.gateway.serve"),
        HEALED_S,
    )

    rows.append(row)
    assert row.restarts == {"gateway": 1}
