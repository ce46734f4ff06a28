"""`glmstead recover`: from an engine that gave up, with leftovers about, to answers."""

import json
import time

import pytest

from tests.lab.conftest import INVENTORY
from tests.lab.faults.cluster import Cluster
from tests.lab.faults.table import Row

pytestmark = pytest.mark.lab
FOLDER = "/run/glmstead/glmstead-vllm"
# What nvidia-smi says where somebody else computes on the GPU.
SMI = """#!/bin/sh
case $* in
    *compute-apps*) echo "GPU-1, $(systemctl show -P MainPID foreign), 512" ;;
    *memory.used*) echo "0, GPU-1, 600" ;;
esac
"""


def gave_up(cluster: Cluster) -> None:
    """The state after five failed starts in a row."""
    failed = json.dumps({"count": 5, "how": "exit-code exited 1", "at": 0})
    cluster.ssh(
        cluster.head,
        f"systemctl stop glmstead-vllm && echo '{failed}' >{FOLDER}/failed && "
        "systemctl start glmstead-vllm",
    )


def test_recover_heals_what_gave_up_and_leaves_others_alone(
    cluster: Cluster, rows: list[Row]
) -> None:
    run, smi = "systemd-run --quiet --unit", "/usr/local/bin/nvidia-smi"
    cluster.ssh(cluster.worker, f"{run}=orphan --uid=glmstead sleep 3600; {run}=foreign sleep 3600")
    cluster.ssh(cluster.worker, f"cat >{smi} <<'E'\n{SMI}E\nchmod 755 {smi}")
    gave_up(cluster)
    status = cluster.lab.run("glmstead", "status", INVENTORY)
    began = time.time()
    recovered = cluster.lab.run("glmstead", "recover", INVENTORY, timeout_s=900)
    seconds = time.time() - began
    left = cluster.ssh(cluster.worker, f"rm {smi}; systemctl is-active foreign orphan || true")
    cluster.ssh(cluster.worker, "systemctl stop foreign")
    restarts = cluster.restarts(began)
    rows.append(Row("engine gave up after 5 failed starts", "recover", seconds, restarts, 0))

    assert status.returncode == 1
    assert "the engine gave up after 5 failed starts in a row" in status.stdout
    assert f"then glmstead recover {INVENTORY}" in status.stdout
    assert recovered.returncode == 0, recovered.stdout[-3000:]
    assert "sleep 3600 holds 512 MiB of a GPU: not ours, left alone" in recovered.stdout
    assert "sleep 3600" in recovered.stdout and "ending" in recovered.stdout
    assert left.split() == ["active", "inactive"]
    assert cluster.answers() and cluster.left_behind() == {}
    assert restarts == {"ray-head": 1, "ray-worker": 1, "vllm": 1}
    assert cluster.lab.run("glmstead", "status", INVENTORY).returncode == 0
    assert cluster.lab.deploy() == {}


def test_a_stop_lets_running_requests_end_and_refuses_new_ones(cluster: Cluster) -> None:
    """The drain: nobody is cut off, the next client hears 503 and when to come back."""
    cluster.whole_again()
    try:
        with cluster.long_request() as running:
            cluster.ssh(cluster.head, "systemctl stop --no-block glmstead-vllm")
            refused = cluster.refusal()
            answer = running.result(timeout=120)
    finally:
        cluster.ssh(cluster.head, "systemctl start --no-block glmstead-vllm glmstead-gate")

    assert refused == (503, "10")
    assert answer == 300
    cluster.whole_again()
