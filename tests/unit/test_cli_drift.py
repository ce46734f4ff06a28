"""What drift makes of pyinfra's answer."""

import json
from subprocess import CompletedProcess
from typing import Any

import pytest

from glmstead.commands.drift import Untold, planned_changes, text


def answer(*operations: dict[str, Any], returncode: int = 0, stderr: str = "") -> Any:
    """A finished ``pyinfra --dry --json`` with these operations in its plan."""
    stdout = json.dumps({"plan": list(operations), "results": None})
    return CompletedProcess([], returncode, stdout, stderr)


def operation(name: str, *hosts: str, conditional: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        "name": name,
        "hosts_with_change": list(hosts),
        "hosts_with_conditional_change": list(conditional),
    }


def test_no_change_is_no_drift() -> None:
    changes = planned_changes(answer(operation("Base | Limits")))

    assert changes == {}
    assert text(changes) == "no drift"


def test_changes_are_listed_by_host_in_the_order_of_the_plan() -> None:
    changes = planned_changes(
        answer(
            operation("Base | Limits", "b"),
            operation("vLLM | Unit", "b", "a"),
        )
    )

    assert changes == {"a": ["vLLM | Unit"], "b": ["Base | Limits", "vLLM | Unit"]}
    assert text(changes) == "a\n  vLLM | Unit\nb\n  Base | Limits\n  vLLM | Unit"


def test_an_operation_with_a_condition_is_no_drift() -> None:
    assert planned_changes(answer(operation("Restart vLLM", conditional=("a",)))) == {}


@pytest.mark.parametrize(
    ("stderr", "reason"),
    [
        (
            "--> Connecting to hosts...\n"
            "    [\x1b[1mh1\x1b[0m]      Could not connect (no route)\n"
            "--> pyinfra error: Over 0% of hosts failed (50%)\n",
            "[h1] Could not connect (no route)",
        ),
        ("--> pyinfra error: h1: vllm_port: wrong\n", "pyinfra error: h1: vllm_port: wrong"),
        ("", "pyinfra said nothing"),
    ],
)
def test_a_run_that_failed_is_no_verdict(stderr: str, reason: str) -> None:
    with pytest.raises(Untold) as untold:
        planned_changes(answer(returncode=1, stderr=stderr))

    assert str(untold.value) == reason


@pytest.mark.parametrize("stdout", ["", "[]", "{}", '{"plan": []}', '{"plan": [{}]}'])
def test_an_answer_that_is_no_plan_is_no_verdict(stdout: str) -> None:
    with pytest.raises(Untold):
        planned_changes(CompletedProcess([], 0, stdout, ""))
