"""What status asks each host, and what it makes of the answers."""

from collections.abc import Callable
from typing import Any

import pytest

from glmstead.commands.status import HEADER, judge, question
from glmstead.inventory import load, settings_of
from glmstead.settings import cluster_of
from glmstead.text_table import table
from tests.unit.conftest import Inventories

HEAD, WORKER = "@fake/h1", "@fake/h2"
Questions = dict[str, dict[str, Any]]


def unit(**changed: str) -> dict[str, str]:
    return {
        "LoadState": "loaded",
        "ActiveState": "active",
        "SubState": "running",
        "Result": "success",
        "NRestarts": "0",
        "StateChangeTimestamp": "Mon 2026-11-30 12:00:00 UTC",
        **changed,
    }


@pytest.fixture
def questions(inventory_file: Inventories) -> Questions:
    inventory = load(inventory_file())
    cluster = cluster_of(inventory)
    return {host: question(s, host, cluster) for host, s in settings_of(inventory).items()}


@pytest.fixture
def answers(questions: Questions) -> Callable[..., dict[str, Any]]:
    """Answers of a cluster that runs, one unit of one host changed."""

    def answer(host: str = HEAD, changed: str = "", **fields: str) -> dict[str, Any]:
        found: dict[str, Any] = {
            name: {"units": {one: unit() for one in asked["units"]}, "ray": None}
            for name, asked in questions.items()
        }
        found[HEAD]["ray"] = "Ray holds 2 hosts with 1 GPUs each"
        if changed:
            found[host]["units"][changed] = unit(**fields)
        return found

    return answer


def test_the_head_is_asked_for_its_units_and_for_ray(questions: Questions) -> None:
    assert questions[HEAD]["units"] == [
        "glmstead-ray-head",
        "glmstead-vllm",
        "glmstead-gateway",
    ]
    assert questions[HEAD]["ray"]["words"][2:] == [
        "10.77.42.1:6380",
        "1",
        "0",
        "10.77.42.1",
        "10.77.42.2",
    ]
    assert questions[WORKER] == {"units": ["glmstead-ray-worker"], "ray": None}


def test_a_cluster_that_runs(questions: Questions, answers: Callable[..., Any]) -> None:
    report = judge(questions, answers())

    assert report.running
    assert report.ray == "holds 2 hosts with 1 GPUs each"
    assert table(HEADER, report.rows).splitlines()[:2] == [
        "HOST      UNIT                 STATE    SINCE                        RESTARTS",
        "@fake/h1  glmstead-ray-head    running  Mon 2026-11-30 12:00:00 UTC  0",
    ]


@pytest.mark.parametrize(
    ("fields", "state"),
    [
        (
            {"ActiveState": "failed", "SubState": "failed", "Result": "exit-code"},
            "failed (exit-code)",
        ),
        ({"ActiveState": "activating", "SubState": "start-post"}, "activating"),
        (
            {"LoadState": "not-found", "ActiveState": "inactive", "SubState": "dead"},
            "not installed",
        ),
    ],
)
def test_a_unit_that_does_not_run_is_told(
    questions: Questions, answers: Callable[..., Any], fields: dict[str, str], state: str
) -> None:
    report = judge(questions, answers(HEAD, "glmstead-vllm", **fields))

    assert not report.running
    assert report.rows[1][:3] == (HEAD, "glmstead-vllm", state)


def test_a_host_without_an_answer_is_told(
    questions: Questions, answers: Callable[..., Any]
) -> None:
    report = judge(questions, {HEAD: answers()[HEAD]})

    assert not report.running
    assert report.rows[-1] == (WORKER, "-", "no answer", "-", "-")


def test_a_cluster_that_ray_does_not_hold_is_told(
    questions: Questions, answers: Callable[..., Any]
) -> None:
    found = answers()
    found[HEAD]["ray"] = "gave up after 0 s: 10.77.42.2 has not joined"
    report = judge(questions, found)

    assert not report.running
    assert report.ray == "gave up after 0 s: 10.77.42.2 has not joined"
