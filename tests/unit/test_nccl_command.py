"""How the NCCL trial is run: with the rights, limits and devices that the engine itself has."""

from collections.abc import Callable
from typing import Any

from glmstead.nccl.command import trial_command
from glmstead.settings import Settings

SettingsOf = Callable[..., dict[str, Settings]]
REQUEST: dict[str, Any] = {"ranks": 2}


def test_without_an_image_it_runs_as_the_units_do(settings: SettingsOf) -> None:
    words = trial_command(settings(route="g4")["@fake/h1"], REQUEST, None)

    assert words[:5] == ["systemd-run", "--quiet", "--wait", "--pipe", "--collect"]
    for one in ("User=glmstead", "LimitMEMLOCK=infinity", "LimitNOFILE=1048576"):
        assert one in words
    assert words[-3:] == [
        "/opt/glmstead/engine/bin/python",
        "/opt/glmstead/libexec/nccl_trial.py",
        '{"ranks": 2}',
    ]


def test_D6_in_an_image_it_runs_in_that_image_with_the_engines_devices(
    settings: SettingsOf,
) -> None:
    words = trial_command(settings(route="b12x8", hosts=1)["@fake/h1"], REQUEST, "name@sha256:1")

    image = words.index("name@sha256:1")
    for option in (
        "--device=nvidia.com/gpu=all",
        "--network=host",
        "--ulimit=memlock=-1",
        "--env=CUDA_DEVICE_ORDER=PCI_BUS_ID",
        "--volume=/opt/glmstead/libexec:/opt/glmstead/libexec:ro",
        "--entrypoint=env",
    ):
        assert option in words[:image]
    assert words[image + 1 :] == [
        *("-u", "NCCL_GRAPH_FILE", "-u", "NCCL_GRAPH_DUMP_FILE"),
        *("-u", "VLLM_B12X_MLA_EXTEND_MAX_CHUNKS"),
        *("/opt/venv/bin/python", "/opt/glmstead/libexec/nccl_trial.py", '{"ranks": 2}'),
    ]
