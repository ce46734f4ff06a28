"""Figures of the deployed lab: switched on, read with real values, alerted on, and switched off."""

import json
import shlex
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from glmstead import ROOT
from tests.lab.conftest import ADDRESS, HEAD, INVENTORY, WORKER, Deployed

pytestmark = pytest.mark.lab
ON = '            "metrics_enabled": True,\n            "metrics_interval_s": 1,\n'
Found = dict[str, float]


@pytest.fixture(scope="module")
def inventory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The lab's inventory with figures every second."""
    anchor = '            "cluster_address": host.address,\n'
    text = INVENTORY.read_text()
    assert anchor in text
    path = tmp_path_factory.mktemp("measured") / "measured.py"
    path.write_text(text.replace(anchor, anchor + ON))
    return path


@pytest.fixture(scope="module")
def measured(deployed: Deployed, inventory: Path) -> Iterator[Deployed]:
    changed = deployed.deploy(inventory)
    assert changed["Metrics | Programs"] == [HEAD, WORKER]
    assert changed["Metrics | Prometheus answers"] == [HEAD]
    yield deployed
    deployed.deploy()


def asked(lab: Deployed, path: str, **values: str) -> Any:
    """An answer of Prometheus, asked on its own host: no other may."""
    words = [f"--data-urlencode {shlex.quote(f'{name}={value}')}" for name, value in values.items()]
    url = f"http://{ADDRESS}:9090/api/v1/{path}"
    answer = json.loads(lab.ssh(HEAD, f"curl -sS --get {' '.join(words)} {url}"))
    assert answer["status"] == "success", answer
    return answer["data"]


def values(lab: Deployed, expression: str, *labels: str) -> Found:
    """The values of an expression, by these labels' values."""
    found = asked(lab, "query", query=expression)["result"]
    return {
        " ".join(one["metric"].get(name, "") for name in labels): float(one["value"][1])
        for one in found
    }


def until(condition: Callable[[], bool], bound_s: float = 60) -> None:
    deadline = time.monotonic() + bound_s
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.5)


def firing(lab: Deployed) -> set[str]:
    return set(values(lab, 'ALERTS{alertstate="firing"}', "alertname", "host"))


def test_a_second_run_changes_nothing(measured: Deployed, inventory: Path) -> None:
    assert measured.deploy(inventory) == {}


def test_every_target_answers(measured: Deployed) -> None:
    both = [f"{job} {host}" for job in ("node", "ray") for host in (HEAD, WORKER)]
    wanted = dict.fromkeys([f"vllm {HEAD}", f"gateway {HEAD}", *both], 1.0)

    until(lambda: values(measured, "up", "job", "host") == wanted)


def test_hosts_are_as_declared_from_outside(measured: Deployed, inventory: Path) -> None:
    words = ("-k", "figures or units or ports or root or status")
    suite = measured.run(
        *("pytest", "-q", "tests/hosts", "--inventory", inventory, *words), timeout_s=300
    )
    assert suite.returncode == 0, suite.stdout[-5000:]
    for port in (9090, 9100, 4001):
        with pytest.raises(OSError):
            socket.create_connection((ADDRESS, port), timeout=1).close()
    status = measured.run("glmstead", "status", inventory)
    assert status.returncode == 0, status.stdout
    assert status.stdout.count("glmstead-node-exporter") == 2


def test_a_question_moves_the_figures(measured: Deployed) -> None:
    """Engine and gateway alike, and no alert fires."""
    tokens = "sum(vllm:generation_tokens_total)"
    answers = 'sum(glmstead_gateway_requests_total{kind="completions",status="200"})'
    names = (tokens, answers)
    before = [values(measured, name).get("", 0) for name in names]
    chat = measured.run("glmstead", "chat", INVENTORY, "What is 17 multiplied by 24?")
    assert chat.stdout == "17 multiplied by 24 is 408.\n"

    until(lambda: values(measured, tokens)[""] >= before[0] + 10)
    until(lambda: values(measured, answers)[""] > before[1])
    assert values(measured, "max(glmstead_gateway_first_byte_seconds_sum)")[""] > 0
    assert values(measured, "ray_node_mem_total")
    assert values(measured, "min(glmstead_asleep)") == {"": 0}
    assert firing(measured) == set()


def test_every_panel_of_the_dashboard_has_values(measured: Deployed) -> None:
    document = json.loads((ROOT / "files/metrics/dashboard.json").read_text())
    panels = [one for one in document["panels"] if one["type"] != "row"]
    expressions = [target["expr"] for panel in panels for target in panel["targets"]]
    empty = set()
    for expression in expressions:
        text = expression.replace("$host", ".*").replace("$__rate_interval", "5m")
        if not asked(measured, "query", query=text)["result"]:
            empty.add(text.partition("{")[0])

    gpus = {"GPU_UTIL", "FB_USED", "POWER_USAGE", "GPU_TEMP"}
    assert empty == {f"DCGM_FI_DEV_{name}" for name in gpus}  # there is no GPU here


def test_a_lost_patch_is_an_alert_until_it_is_back(measured: Deployed) -> None:
    find = "import json; print(next(iter(json.load(open('/etc/glmstead/patches.json')).values()))"
    file = measured.ssh(WORKER, f"python3 -c \"{find}[0]['file'])\"")
    measured.ssh(WORKER, f"cp -a {file} {file}.kept && sed -i 1d {file}")
    try:
        until(lambda: firing(measured) == {f"PatchMissing {WORKER}"})
    finally:
        measured.ssh(WORKER, f"mv {file}.kept {file}")
    until(lambda: firing(measured) == set())


def test_an_engine_that_gave_up_is_an_alert(measured: Deployed) -> None:
    failed = "/run/glmstead/glmstead-vllm/failed"
    measured.ssh(HEAD, f"test ! -e {failed} && echo '{{\"count\": 5}}' >{failed}")
    try:
        until(lambda: firing(measured) == {f"StartsGivenUp {HEAD}"})
    finally:
        measured.ssh(HEAD, f"rm -f {failed}")
    until(lambda: firing(measured) == set())


def test_switched_off_they_are_gone_but_for_what_was_measured(measured: Deployed) -> None:
    assert measured.deploy()["Metrics | Nothing that is not declared"] == [HEAD, WORKER]

    for host in (HEAD, WORKER):
        left = measured.ssh(
            host,
            "ss -Hltn | grep -E ':(9090|9100|4001) '; dpkg-query -W -f '${Package} ${db:Status-Status}\\n' "
            "'prometheus*' | grep ' installed'; ls -R /etc/systemd/system /etc/glmstead /run/glmstead "
            "| grep -E 'prom|node-exporter|alerts'; true",
        )
        assert left == ""
    assert measured.ssh(HEAD, "ls /var/lib/glmstead/prometheus") != ""
    assert measured.deploy() == {}
