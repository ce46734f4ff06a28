"""The unit that runs the engine's container, derived from settings and the checkpoint."""

from collections.abc import Generator
from typing import Any

from pyinfra import host
from pyinfra.api import StringCommand, operation

from glmstead import places
from glmstead.containers import apptainer_run, docker_run, server_words
from glmstead.operations.managed_files import ManagedFile, managed_files
from glmstead.operations.models import last_state
from glmstead.operations.server_configuration import pattern_for
from glmstead.serving import exec_line
from glmstead.settings import Settings
from glmstead.unit_files import unit_file


@operation()
def container_unit(
    settings: Settings, reference: str, around: dict[str, Any]
) -> Generator[StringCommand, None, None]:
    """
    Ensure the unit's file, with the engine's whole command line in it.

    + settings: of this host
    + reference: the image, by digest, id or content; or the file of an Apptainer image
    + around: what the unit runs before and after the server
    """
    config = last_state(host, settings.model.path)["config"]
    words = server_words(settings, pattern_for(settings, config))
    run = docker_run if settings.container.runtime == "docker" else apptainer_run
    files = unit_files(settings, exec_line(run(settings, reference, words)), around)
    yield from managed_files._inner(files=files)


def unit_files(settings: Settings, command: str, around: dict[str, Any]) -> list[ManagedFile]:
    """The unit that runs a command line in a container, and the list of its inputs."""
    docker = settings.container.runtime == "docker"
    measured = [places.NCCL_ENV] if docker and settings.gpu.count else []
    return unit_file(
        places.VLLM,
        template="vllm-container",
        inputs=[places.ENGINE_ENV, places.MODEL_MANIFEST, *measured],
        nofile=settings.system.nofile,
        ulimits=settings.image.ulimits,
        docker=docker,
        command=command,
        **around,
    )
