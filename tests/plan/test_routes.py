"""Routes of one host, planned on a bare one: the right tasks, in order, and no Ray."""

from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from tests.image_samples import TAR
from tests.overlay_samples import stand_in
from tests.plan.conftest import Run

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
def alone(tmp_path: Path) -> Callable[..., Path]:
    """One bare host in a route."""

    def write(route: str, **more: Any) -> Path:
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
            **more,
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


@pytest.mark.parametrize("runtime", ["docker", "apptainer"])
@pytest.mark.parametrize(
    ("text", "said"),
    [(None, "image_archive: no "), ("other", "a.tar is not the tar of image_archive_sha256")],
    ids=["missing", "another one"],
)
def test_a_tar_that_cannot_be_sent_is_refused_before_a_host_is_changed(
    text: str | None,
    said: str,
    runtime: str,
    alone: Callable[..., Path],
    plain_pyinfra: Callable[[Path], Run],
    tmp_path: Path,
) -> None:
    """Else a host that moves would have lost its old engine by then."""
    if text:
        (tmp_path / "a.tar").write_text(text)
    tar = {**TAR, "image_archive": str(tmp_path / "a.tar"), "container_runtime": runtime}

    run = plain_pyinfra(alone("a100_docker", **tar))

    assert run.returncode != 0
    assert said in run.stdout + run.stderr
    assert "Traceback" not in run.stderr
    assert "Earlier routes | " not in run.stdout + run.stderr


def test_modules_that_are_not_as_pinned_are_refused_before_a_host_is_changed(
    alone: Callable[..., Path], plain_pyinfra: Callable[[Path], Run], tmp_path: Path
) -> None:
    inventory = alone("a100")
    for module in (tmp_path / "source").rglob("*.py"):
        module.write_text("# of another commit\n")

    run = plain_pyinfra(inventory)

    assert run.returncode != 0
    assert "fix: give that commit's files" in run.stdout + run.stderr
    assert "Earlier routes | " not in run.stdout + run.stderr
