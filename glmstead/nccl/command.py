"""How a trial is run: as the engine itself would be, by its user and limits or in its image."""

import json
from typing import Any

from glmstead import places
from glmstead.containers import container_environment, process_options, without_unset
from glmstead.nccl.stages import PROGRAM
from glmstead.settings import Settings


def trial_command(settings: Settings, request: dict[str, Any], image: str | None) -> list[str]:
    """Words of one stage on one host; ``image`` is None where the engine is no container."""
    program = [f"{places.LIBEXEC}/{PROGRAM}", json.dumps(request)]
    if image is None:
        return [*_as_the_units(settings), f"{settings.engine.root}/bin/python", *program]
    command, *rest = without_unset(settings, [settings.image.python, *program])
    return [
        *("/usr/bin/docker", "run", "--rm", "--init", "--pull=never", "--name=glmstead-nccl"),
        *process_options(settings),
        *(f"--env={name}={value}" for name, value in container_environment(settings).items()),
        f"--volume={places.LIBEXEC}:{places.LIBEXEC}:ro",
        *(f"--entrypoint={command}", image, *rest),
    ]


def _as_the_units(settings: Settings) -> list[str]:
    properties = (
        f"User={settings.system.user}",
        f"EnvironmentFile={places.ENGINE_ENV}",
        f"LimitNOFILE={settings.system.nofile}",
        "LimitMEMLOCK=infinity",
    )
    words = ["systemd-run", "--quiet", "--wait", "--pipe", "--collect"]
    return [*words, *(part for one in properties for part in ("-p", one))]
