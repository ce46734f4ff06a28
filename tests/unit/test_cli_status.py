"""What status asks each host, and what it makes of the answers."""

from collections.abc import Callable
from typing import Any

import pytest

from glmstead.commands.status import question, text
from glmstead.inventory import load, settings_of
from glmstead.settings import cluster_of
from glmstead.status_report import Report, judge
from tests.unit.conftest import Inventories

HEAD, WORKER = "@fake/h1", "@fake/h2"
FLEET = "inventories/fleet.py"
Questions = dict[str, dict[str, Any]]
Answers = Callable[..., dict[str, Any]]


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
def answers(questions: Questions) -> Answers:
    """Answers of a cluster that runs, one unit of one host changed."""

    def answer(host: str = HEAD, changed: str = "", **fields: str) -> dict[str, Any]:
        found: dict[str, Any] = {
            name: {
                "units": {one: unit() for one in asked["units"]},
                "ray": None,
                "watch": {},
                "engine": None,
            }
            for name, asked in questions.items()
        }
        found[HEAD]["ray"] = "Ray holds 2 hosts with 1 GPUs each"
        found[HEAD]["engine"] = {
            "failed": None,
            "waiting": None,
            "asleep": False,
            "open": True,
            "metrics": {
                "num_requests_running": 2.0,
                "num_requests_waiting": 1.0,
                "kv_cache_usage_perc": 0.25,
            },
            "journal": ["INFO:     Application startup complete."],
        }
        if changed:
            found[host]["units"][changed] = unit(**fields)
        return found

    return answer


def said(report: Report) -> list[tuple[str, str]]:
    return [(one.what, one.next) for one in report.wrong]


def test_the_head_is_asked_for_its_units_for_ray_and_for_the_engine(questions: Questions) -> None:
    assert questions[HEAD]["units"] == [
        "glmstead-ray-head",
        "glmstead-vllm",
        "glmstead-gateway",
        "glmstead-gate",
        "glmstead-watch",
    ]
    assert questions[HEAD]["ray"]["words"][2:] == [
        "10.77.42.1:6380",
        "1",
        "0",
        "10.77.42.1",
        "10.77.42.2",
    ]
    assert questions[HEAD]["engine"]["url"] == "http://127.0.0.1:8000"
    assert questions[WORKER] == {
        "units": ["glmstead-ray-worker", "glmstead-watch"],
        "ray": None,
        "engine": None,
    }


def test_a_cluster_that_runs(questions: Questions, answers: Answers) -> None:
    report = judge(questions, answers(), FLEET)
    lines = text(report).splitlines()

    assert said(report) == []
    assert report.document["ok"] is True
    assert lines[:2] == [
        "HOST      UNIT                 STATE    SINCE                        RESTARTS",
        "@fake/h1  glmstead-ray-head    running  Mon 2026-11-30 12:00:00 UTC  0",
    ]
    assert lines[-2:] == [
        "Ray:     holds 2 hosts with 1 GPUs each",
        "Engine:  ready; 2 running, 1 waiting; KV cache 25%",
    ]


def test_an_engine_that_gave_up_says_why_and_what_is_next(
    questions: Questions, answers: Answers
) -> None:
    found = answers(HEAD, "glmstead-vllm", ActiveState="inactive", SubState="dead")
    found[HEAD]["engine"]["failed"] = {"count": 5, "how": "exit-code exited 1"}
    found[HEAD]["engine"]["journal"] = ["x", "ValueError: no valid attention backend", "y"]

    assert said(judge(questions, found, FLEET)) == [
        (
            "@fake/h1: the engine gave up after 5 failed starts in a row "
            "(ValueError: no valid attention backend)",
            "glmstead logs inventories/fleet.py --unit glmstead-vllm; "
            "then glmstead recover inventories/fleet.py",
        )
    ]


def test_an_engine_that_serves_without_ray_is_named(questions: Questions, answers: Answers) -> None:
    """vLLM needs Ray's GCS only to start: who is served is not interrupted, and a person told."""
    found = answers()
    found[HEAD]["ray"] = "the head does not answer"

    assert said(judge(questions, found, FLEET)) == [
        (
            "@fake/h1: Ray: the head does not answer, though the engine serves",
            "glmstead recover inventories/fleet.py",
        )
    ]


@pytest.mark.parametrize(
    ("line", "phase"),
    [
        (
            "waiting for Ray: 10.77.42.2 has not joined",
            "waiting for Ray: 10.77.42.2 has not joined",
        ),
        (
            "Loading safetensors checkpoint shards:  50% Completed | 70/141",
            "loading weights, 70/141",
        ),
        ("INFO [backends.py:1] torch.compile takes 18 s in total", "compiling"),
        ("Capturing CUDA graphs (decode, FULL):  40%|##  | 4/10 [", "capturing CUDA graphs, 4/10"),
    ],
)
def test_a_start_says_how_far_it_is(
    questions: Questions, answers: Answers, line: str, phase: str
) -> None:
    found = answers(HEAD, "glmstead-vllm", ActiveState="activating", SubState="start-post")
    found[HEAD]["engine"]["journal"] = [line, "something else"]
    ((what, _),) = said(judge(questions, found, FLEET))

    assert what.startswith(f"@fake/h1: the engine is not ready: {phase}")


def test_a_closed_gate_is_told(questions: Questions, answers: Answers) -> None:
    found = answers()
    found[HEAD]["engine"]["open"] = False
    ((what, command),) = said(judge(questions, found, FLEET))

    assert "the gateway is closed" in what
    assert command == "glmstead logs inventories/fleet.py --unit glmstead-gate"


def test_a_watch_that_gave_up_is_told(questions: Questions, answers: Answers) -> None:
    found = answers()
    state = "gave up: 3 restarts in 1 h did not help, no progress and no answer"
    found[HEAD]["watch"] = {"glmstead-vllm": {"state": state, "alive_at": None}}
    ((what, command),) = said(judge(questions, found, FLEET))

    assert what == f"@fake/h1: the watch of glmstead-vllm {state}"
    assert command == "glmstead recover inventories/fleet.py"


def test_a_unit_that_is_missing_or_down_is_told(questions: Questions, answers: Answers) -> None:
    missing = answers(WORKER, "glmstead-ray-worker", LoadState="not-found", ActiveState="inactive")
    down = answers(
        HEAD, "glmstead-gateway", ActiveState="failed", SubState="failed", Result="exit-code"
    )

    assert said(judge(questions, missing, FLEET)) == [
        ("@fake/h2: glmstead-ray-worker is not installed", "glmstead deploy inventories/fleet.py")
    ]
    assert said(judge(questions, down, FLEET)) == [
        (
            "@fake/h1: glmstead-gateway is failed (exit-code)",
            "glmstead deploy inventories/fleet.py",
        )
    ]


def test_a_host_without_an_answer_is_told(questions: Questions, answers: Answers) -> None:
    report = judge(questions, {HEAD: answers()[HEAD]}, FLEET)

    assert report.rows[-1] == (WORKER, "-", "no answer", "-", "-")
    assert said(report) == [("@fake/h2 does not answer", "start @fake/h2, or check SSH to it")]
