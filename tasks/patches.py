"""Source patches of the engine: judged on all hosts, then all or none, the same everywhere."""

from pyinfra.api import deploy

from glmstead import places
from glmstead.operations import patches
from glmstead.settings import Cluster, Settings


@deploy("Patches")
def patch_engine(settings: Settings, cluster: Cluster) -> None:
    if settings.engine.kind == "container":
        return  # an image is patched where it is built
    tags, python = list(settings.patches.tags), f"{settings.engine.root}/bin/python"
    patches.possible(name="Every patch can be applied", tags=tags, python=python)
    patches.applied(name="Patches applied", tags=tags, python=python, units=places.ENGINE_UNITS)
    patches.recorded(name="List of patched files", tags=tags, python=python, path=places.PATCHES)
    patches.same_as(
        name="Same patched files as the head",
        other=cluster.head.name,
        tags=tags,
        python=python,
        path=places.PATCHES,
    )
