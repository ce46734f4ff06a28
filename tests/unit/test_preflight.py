"""What makes a host unfit: each reason in its exact words."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from glmstead.inventory import load, settings_of
from glmstead.preflight import bound_ports, clock_difference, problems
from glmstead.settings import Settings

MODEL = "/var/lib/glmstead/models/glm-nano"


@pytest.fixture
def settings(inventory_file: Callable[..., Path]) -> Settings:
    return settings_of(load(inventory_file(route="lab")))["@fake/h1"]


def host(settings: Settings, **changed: Any) -> dict[str, Any]:
    """A fit host, but for what is changed."""
    return {
        "apt": True,
        "systemd": True,
        "memory": 16e9,
        "environment_python": None,
        "present": {MODEL: False},
        "free": {MODEL: 100e9},
        "addresses": {settings.cluster.interface: [settings.cluster.address]},
        "unreachable": [],
        "listening": {},
        **changed,
    }


def held(process: str, unit: str) -> dict[str, dict[str, str]]:
    return {"8000": {"address": "0.0.0.0", "process": process, "pid": "7", "unit": unit}}


def test_a_fit_host_has_no_problem(settings: Settings) -> None:
    assert problems(host(settings), settings, {"vllm_port": 8000}) == []


@pytest.mark.parametrize(
    ("changed", "line"),
    [
        ({"apt": False}, "no apt-get: this package needs Debian or Ubuntu"),
        ({"systemd": False}, "systemd is not PID 1: the services need it"),
        ({"memory": 1e9}, "1.0 GB of memory, 2 needed: use a larger host"),
        (
            {"environment_python": "3.12.1"},
            "/opt/glmstead/engine holds Python 3.12.1, engine_python is 3.11: set "
            "engine_python, or stop the services and remove /opt/glmstead/engine",
        ),
        (
            {"free": {MODEL: 5e9}},
            f"5.0 GB free for {MODEL}, 8.0 needed (0.015 for the model, 8 reserve): free "
            "space or set model_root",
        ),
        (
            {"unreachable": [["10.0.0.9", 22]]},
            "cannot reach its peer 10.0.0.9:22: check routes and firewall",
        ),
        (
            {"listening": held("nginx", "nginx.service")},
            "port 8000 is taken by nginx (pid 7) of nginx.service: stop it or set vllm_port",
        ),
        (
            {"listening": held("", "")},
            "port 8000 is taken by a process (pid 7): stop it or set vllm_port",
        ),
    ],
)
def test_each_reason_is_one_line_with_its_fix(
    settings: Settings, changed: dict[str, Any], line: str
) -> None:
    assert problems(host(settings, **changed), settings, {"vllm_port": 8000}) == [line]


def test_our_own_service_may_hold_its_port(settings: Settings) -> None:
    listening = held("python", "glmstead-vllm.service")

    assert problems(host(settings, listening=listening), settings, {"vllm_port": 8000}) == []


def test_a_model_that_is_there_needs_no_further_space(settings: Settings) -> None:
    state = host(settings, present={MODEL: True}, free={MODEL: 8.001e9})

    assert problems(state, settings, {}) == []


def test_ports_follow_the_roles(settings: Settings) -> None:
    head = bound_ports(settings, ["head", "gateway"])
    worker = bound_ports(settings, ["worker"])

    assert (head["ray_port"], head["vllm_port"], head["gateway_port"]) == (6380, 8000, 4000)
    assert set(worker.values()) == {6381, 6382, 6383, 6384, 6385, 6386}


def test_clocks_are_compared_with_each_other() -> None:
    assert clock_difference({"a": 0.2, "b": -0.4}, 5.0) is None
    assert clock_difference({"a": 3600.0, "b": 0.0}, 5.0) == (
        "clocks of b and a differ by 3600.0 s: enable timesyncd or chrony"
    )
