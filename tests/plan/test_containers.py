"""GPU containers in the plan: what could take their GPUs away comes first, the check last."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Plan = Callable[[Path], list[dict[str, Any]]]
RELOADING = ("Ray cluster", "vLLM | ", "Gateway | ", "Watch | ", "Network | ")
HELD = {"version": "28.2.2", "devices": "580.159.03", "driver": "580.159.03"}


@pytest.fixture
def fleet(tmp_path: Path) -> Callable[..., Path]:
    """Two hosts of g4 with Docker; ``docker`` is what it says of itself."""

    def write(**docker: Any) -> Path:
        members = [
            (
                f"@fake/h{number}",
                {
                    "cluster_address": f"10.77.42.1{number}",
                    "cluster_interface": "host0",
                    "container_runtime": "docker",
                    "fake_delay": 0,
                    "fake_delay_jitter": 0,
                    "fake_responses": {
                        "state": {
                            "addresses": {"host0": [f"10.77.42.1{number}"]},
                            "docker": {**HELD, **docker},
                        }
                    },
                },
            )
            for number in (1, 2)
        ]
        names = [name for name, _ in members]
        groups = {"g4": members, "head": names[:1], "worker": names[1:], "gateway": names[:1]}
        path = tmp_path / "fleet.py"
        path.write_text(
            "from tests.plan import bare_hosts as _bare_hosts\n\n_bare_hosts.install()\n"
            + "".join(f"{name} = {value!r}\n" for name, value in groups.items())
        )
        return path

    return write


def test_the_last_change_of_a_unit_is_followed_by_the_check_of_the_containers(
    fleet: Callable[..., Path], plan: Plan
) -> None:
    names = [one["name"] for one in plan(fleet())]
    check = names.index("Container | The container has its GPUs")

    assert names.index("Container engine | GPU devices for containers") < check
    assert [name for name in names[check:] if name.startswith(RELOADING)] == []


@pytest.mark.parametrize(
    ("inside", "restarted"), [(True, []), (None, []), (False, ["@fake/h1", "@fake/h2"])]
)
def test_a_container_that_lost_its_gpus_is_restarted(
    fleet: Callable[..., Path], plan: Plan, inside: bool | None, restarted: list[str]
) -> None:
    planned = {one["name"]: one["hosts_with_change"] for one in plan(fleet(inside=inside))}

    assert planned["Container | The container has its GPUs"] == restarted
    assert planned["Container engine | GPU devices for containers"] == []


def test_devices_are_described_anew_for_another_driver(
    fleet: Callable[..., Path], plan: Plan
) -> None:
    planned = {one["name"]: one["hosts_with_change"] for one in plan(fleet(driver="590.48.01"))}

    assert planned["Container engine | GPU devices for containers"] == ["@fake/h1", "@fake/h2"]
