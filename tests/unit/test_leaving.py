"""What a host loses when its route changes, and what it keeps."""

from collections.abc import Callable
from typing import Any

import pytest

from glmstead.inventory import load, settings_of
from glmstead.leaving import leaving, question
from glmstead.settings import Settings
from tests.unit.conftest import Inventories

NOTHING: dict[str, Any] = {
    "units": [],
    "paths": [],
    "images": [],
    "containers": [],
    "in_container": False,
}
RAY = {"units": ["glmstead-ray-head.service", "glmstead-vllm.service"]}
IMAGE = {
    "units": ["glmstead-engine.slice", "glmstead-vllm.service"],
    "in_container": True,
    "containers": ["4f5e"],
    "images": ["voipmonitor/vllm@sha256:1"],
}
Of = Callable[..., Settings]


@pytest.fixture
def of(inventory_file: Inventories) -> Of:
    def settings(route: str, **data: Any) -> Settings:
        hosts = {"hosts": 1, "worker": []} if route != "g4" else {}
        one: Any = inventory_file(
            route=route,
            name=f"{route}_{len(data)}",
            data={"model_revision": "a" * 40, **data},
            **hosts,
        )
        return settings_of(load(one))["@fake/h1"]

    return settings


def test_a_bare_host_loses_nothing(of: Of) -> None:
    assert leaving(NOTHING, of("b12x4"), "i").nothing
    assert leaving(NOTHING, of("a100_dense"), None).nothing


def test_the_same_kind_of_engine_is_left_alone(of: Of) -> None:
    assert leaving({**NOTHING, **RAY}, of("g4"), None).nothing
    assert leaving({**NOTHING, **IMAGE}, of("b12x4"), "voipmonitor/vllm@sha256:1").nothing


def test_from_ray_to_an_image_ray_is_stopped_and_gone(of: Of) -> None:
    found = leaving({**NOTHING, **RAY}, of("b12x4"), "i")

    assert found.stop == ("glmstead-vllm.service", "glmstead-ray-head.service")
    assert found.units == ("glmstead-ray-head.service",)
    assert found.images == ()


def test_from_an_image_to_ray_container_and_image_are_gone(of: Of) -> None:
    found = leaving({**NOTHING, **IMAGE}, of("g4"), None)

    assert found.stop == ("glmstead-vllm.service",)
    assert found.units == ("glmstead-engine.slice",)
    assert found.containers == ("4f5e",)
    assert found.images == ("voipmonitor/vllm@sha256:1",)


def test_what_each_kind_of_engine_asks_for(of: Of) -> None:
    paths = {route: question(of(route))["paths"] for route in ("g4", "a100_dense", "b12x4")}

    assert "/opt/glmstead/engine" in paths["b12x4"]
    assert "/etc/glmstead/patches.json" in paths["b12x4"]
    assert "/etc/glmstead/ray-token" in paths["b12x4"]
    assert "/etc/glmstead/ray-token" in paths["a100_dense"]
    assert "/opt/glmstead/engine" not in paths["a100_dense"]
    assert paths["g4"] == [
        "/var/cache/glmstead/image",
        "/etc/glmstead/overlay.imported",
        "/opt/glmstead/vllm",
    ]


def test_what_nccl_measured_stays_where_it_is_measured(of: Of) -> None:
    """Else every deploy of a container on GPUs would measure again, and restart the engine."""
    verdict = "/etc/glmstead/nccl.env"

    assert verdict not in question(of("b12x4"))["paths"]
    assert verdict not in question(of("g4"))["paths"]
    assert verdict in question(of("b12x4", gpu_count=0, ray_gpus_per_host=4))["paths"]


def test_models_stay_unless_they_are_named(of: Of) -> None:
    kept = question(of("b12x4"))["paths"]
    told = question(of("b12x4", model_absent=["GLM-5.2-FP8"]))["paths"]

    assert [path for path in kept if path.startswith("/var/lib/glmstead/models")] == []
    assert "/var/lib/glmstead/models/GLM-5.2-FP8" in told
