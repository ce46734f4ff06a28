"""A host that comes from another route: what that one installed goes first, models stay."""

from pyinfra.api import deploy

from glmstead.operations import leaving
from glmstead.settings import Settings
from tasks.image import reference_of


@deploy("Earlier routes")
def leave_other_routes(settings: Settings) -> None:
    is_image = settings.engine.kind == "container"
    leaving.left(
        name="Nothing of another route",
        settings=settings,
        image=reference_of(settings) if is_image else None,
    )


@deploy("Earlier images")
def keep_one_image(settings: Settings) -> None:
    if settings.engine.kind == "container" and settings.container.runtime == "docker":
        leaving.images_kept(name="Only the image that serves", image=reference_of(settings))
