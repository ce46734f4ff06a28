"""How the ranks talk: measured before the engine starts, and again when what counts has changed."""

from typing import Any

from pyinfra.api import deploy

from glmstead import places
from glmstead.nccl.stages import stages
from glmstead.operations import nccl
from glmstead.operations.managed_files import ManagedFile, managed_files
from glmstead.settings import Cluster, Settings
from tasks.image import reference_of


@deploy("NCCL verdict")
def measure_nccl(settings: Settings, cluster: Cluster, again: bool = False) -> None:
    if not settings.gpu.count or settings.container.runtime == "apptainer":
        return
    image = reference_of(settings) if settings.engine.kind == "container" else None
    if not (image or settings.engine.lock) or not stages(settings, cluster):
        nothing = "# one GPU, or an engine without a lock: nothing was measured\n"
        managed_files(name="Nothing to measure", files=[ManagedFile(places.NCCL_ENV, nothing)])
        return
    of: dict[str, Any] = {"settings": settings, "cluster": cluster, "image": image}
    nccl.freed(name="Free GPUs", again=again, **of)
    for stage in stages(settings, cluster):  # equal on all hosts
        nccl.tried(name=f"All-reduce on {stage}", stage=stage, **of)
    nccl.decided(name="The best way to talk", **of)
