"""Source patches of the engine: all or none, judged before anything is written."""

from pyinfra.api import deploy

from glmstead.operations import patches
from glmstead.settings import Settings


@deploy("Patches")
def patch_engine(settings: Settings) -> None:
    patches.applied(
        name=f"Patches {', '.join(settings.patches.tags)}",
        tags=list(settings.patches.tags),
        python=f"{settings.engine.root}/bin/python",
    )
