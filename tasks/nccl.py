"""How the ranks talk: measured before the engine starts, and again when what counts has changed."""

from pyinfra.api import deploy

from glmstead import places
from glmstead.nccl.stages import stages
from glmstead.operations import nccl
from glmstead.operations.managed_files import ManagedFile, managed_files
from glmstead.settings import Cluster, Settings


@deploy("NCCL verdict")
def measure_nccl(settings: Settings, cluster: Cluster, again: bool = False) -> None:
    if not settings.gpu.count or settings.engine.kind == "container":
        return  # an image brings its own NCCL
    if settings.engine.lock is None or not stages(settings, cluster):
        nothing = "# one GPU, or an engine in an image: nothing was measured\n"
        managed_files(name="Nothing to measure", files=[ManagedFile(places.NCCL_ENV, nothing)])
        return
    nccl.freed(name="Free GPUs", settings=settings, cluster=cluster, again=again)
    for stage in stages(settings, cluster):  # equal on all hosts
        nccl.tried(name=f"All-reduce on {stage}", settings=settings, cluster=cluster, stage=stage)
    nccl.decided(name="The best way to talk", settings=settings, cluster=cluster)
