"""Field failures of containers and collectives, by their numbers in the threads."""

from collections.abc import Callable

import pytest

from glmstead.containers import container_environment, docker_run
from glmstead.gpu.image_needs import is_met
from glmstead.render import render
from glmstead.serving import engine_environment, vllm_config
from glmstead.settings import Settings

SettingsOf = Callable[..., dict[str, Settings]]
# As NVIDIA's images have it: one release, or a driver branch that carries it by compatibility
NEEDS = "cuda>=13.0 brand=unknown,driver>=535,driver<536 brand=rtx,driver>=570,driver<571"


def test_C1_GPUs_come_to_a_container_in_a_way_that_systemd_knows(settings: SettingsOf) -> None:
    words = docker_run(settings(route="b12x8", hosts=1)["@fake/h1"], "image", ["vllm"])

    assert "--device=nvidia.com/gpu=all" in words
    assert not [word for word in words if word.startswith(("--gpus", "--runtime"))]


@pytest.mark.parametrize(
    ("needs", "cuda", "driver", "met"),
    [
        (NEEDS, "13.0", "580.159.03", True),
        (NEEDS, "12.8", "570.133.20", True),  # its own alternative
        (NEEDS, "12.4", "550.90.07", False),
        ("cuda>=13.2", "13.0", "580.159.03", False),
        ("cuda>=13.2", None, "700.10.01", True),  # a branch newer than the table
        ("brand=tesla,driver>=450,driver<451", "13.0", "580.159.03", False),
        ("", "13.0", "580.159.03", True),
    ],
)
def test_C3_an_image_that_wants_a_newer_driver_is_told(
    needs: str, cuda: str | None, driver: str, met: bool
) -> None:
    assert is_met(needs, cuda, driver) is met


def test_D3_the_engine_does_not_use_its_own_all_reduce_on_these_boards(
    settings: SettingsOf,
) -> None:
    """FlashInfer's autotuning hangs in it, after NCCL no longer does."""
    assert vllm_config(settings(route="g4")["@fake/h1"])["disable-custom-all-reduce"] is True
    for route in ("b12x4", "b12x8"):
        data = {"model_revision": "0" * 40}
        found = settings(route=route, hosts=1, name=route, data=data)
        image = container_environment(found["@fake/h1"])
        assert image["VLLM_ENABLE_PCIE_ALLREDUCE"] == "0"


def test_D7_D8_D9_Gloo_gets_one_concrete_interface_and_NCCL_may_get_two(
    settings: SettingsOf,
) -> None:
    host = {"cluster_interface": "ens4", "nccl_socket_interfaces": ["enp128s4", "ens4"]}
    found = settings(route="g4", second=host)

    first, second = (engine_environment(found[name]) for name in ("@fake/h1", "@fake/h2"))
    assert (first["GLOO_SOCKET_IFNAME"], first["NCCL_SOCKET_IFNAME"]) == ("host0", "host0")
    assert second["GLOO_SOCKET_IFNAME"] == "ens4"  # D11: names differ between hosts
    assert second["NCCL_SOCKET_IFNAME"] == "enp128s4,ens4"
    assert second["VLLM_HOST_IP"] == "10.77.42.2"  # not what a host name resolves to


def test_D6_D10_Ray_and_vLLM_read_the_same_verdict_and_environment() -> None:
    """What only a model's configuration has, the ranks' own processes never see."""
    shared = render("systemd/_engine.j2", user="glmstead", nofile=65536, allow_from=[])
    files = [line for line in shared.splitlines() if line.startswith("EnvironmentFile=")]

    assert files == [
        "EnvironmentFile=-/etc/glmstead/nccl.env",
        "EnvironmentFile=/etc/glmstead/engine.env",  # later wins: what is declared
    ]
