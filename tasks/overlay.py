"""Python files of a change that no release holds, beside the engine's own."""

import json

from pyinfra.api import deploy
from pyinfra.api.exceptions import DeployError

from glmstead import places
from glmstead.operations.managed_files import ManagedFile, managed_files
from glmstead.overlays import OverlayError, overlay_texts
from glmstead.settings import Settings


@deploy("Overlay")
def bring_files(settings: Settings) -> None:
    if settings.overlay.name is None or settings.engine.kind == "container":
        return
    engine = settings.engine
    site = f"{engine.root}/lib/python{engine.python}/site-packages"
    files = [ManagedFile(f"{site}/{path}", text) for path, text in texts_of(settings).items()]
    listing = json.dumps([file.path for file in files], indent=1) + "\n"
    managed_files(
        name=f"Files of {settings.overlay.name}",
        files=[*files, ManagedFile(places.OVERLAY, listing)],
    )


def texts_of(settings: Settings) -> dict[str, str]:
    """The overlay's files; raises DeployError, one line, before any host is changed."""
    overlay = settings.overlay
    if overlay.name is None:
        return {}
    try:
        return overlay_texts(overlay.name, str(overlay.source))
    except OverlayError as error:
        raise DeployError(f"overlay {overlay.name}: {error}") from error
