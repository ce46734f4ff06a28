"""Routes of one host, planned on a bare one: the right tasks, in order, and no Ray."""

from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from tests.overlay_samples import stand_in

Plan = Callable[[Path], list[dict[str, Any]]]
CHOSEN = {
    "model_revision": "a" * 40,
    "git_commit": "b" * 40,
    "git_pick_commit": "c" * 40,
    "image_base_digest": "sha256:" + "3" * 64,
}
IMAGE = ["Container engine", "Image", "Gateway environment", "Model"]
BARE = ["Engine environment", "Patches", "Gateway environment", "Model"]
ENGINE = {
    "b12x4": IMAGE,
    "b12x8": IMAGE,
    "a100": ["Engine environment", "Overlay", "Patches", "Overlay check", *BARE[2:]],
    "a100_dense": BARE,
    "a100_docker": IMAGE,
    "a100_git": BARE,
}
AFTER = ["vLLM configuration", "Gateway configuration", "Gate configuration"]
AFTER += ["Watch configuration", "vLLM", "Gateway", "Watch"]
GPUS = {"version": "28.2.2", "devices": "580.159.03", "driver": "580.159.03"}


@pytest.fixture
def alone(tmp_path: Path) -> Callable[[str], Path]:
    """One bare host in a route."""

    def write(route: str) -> Path:
        state = {"addresses": {"host0": ["10.77.42.11"]}, "docker": GPUS, "memory": 1.5e12}
        data = {
            "cluster_address": "10.77.42.11",
            "cluster_interface": "host0",
            "fake_delay": 0,
            "fake_delay_jitter": 0,
            "fake_responses": {"state": state},
            **CHOSEN,
            **(stand_in(tmp_path) if route in ("a100", "a100_docker") else {}),
            "gpu_count": 0,  # GPUs have tests of their own
            "ray_gpus_per_host": 4 if route == "b12x4" else 8,
            "driver_source": "none",
        }
        groups = {route: [("@fake/h1", data)], "head": ["@fake/h1"], "gateway": ["@fake/h1"]}
        path = tmp_path / "alone.py"
        path.write_text(
            "from tests.plan import bare_hosts as _bare_hosts\n\n_bare_hosts.install()\n"
            + "".join(f"{name} = {value!r}\n" for name, value in groups.items())
        )
        return path

    return write


@pytest.mark.parametrize("route", sorted(ENGINE))
def test_a_bare_host_is_planned_in_order(
    route: str, alone: Callable[[str], Path], plan: Plan
) -> None:
    tasks = [operation["name"].split(" | ")[0] for operation in plan(alone(route))]
    order = [task for task, _ in groupby(tasks)]

    assert order[:3] == ["Preflight", "Earlier routes", "Operating system"]
    assert [task for task in order if task in {*IMAGE, *ENGINE["a100"]}] == ENGINE[route]
    assert [task for task in order if task in AFTER] == AFTER
    assert [task for task in order if "Ray" in task] == []
