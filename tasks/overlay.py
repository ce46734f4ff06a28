"""Python files of a change that no release holds, beside the engine's own."""

import json
from hashlib import sha256

from pyinfra.api import deploy
from pyinfra.api.exceptions import DeployError

from glmstead import places
from glmstead.lock import lock_path
from glmstead.operations.managed_files import ManagedFile, managed_files
from glmstead.operations.overlays import imported
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


@deploy("Overlay check")
def import_files(settings: Settings) -> None:
    """After the patches, which the files need."""
    if settings.overlay.name is None or settings.engine.kind == "container":
        return
    engine, texts = settings.engine, texts_of(settings)
    lock = lock_path(str(engine.lock)).read_text()
    content = json.dumps([texts, lock, settings.patches.tags]).encode()
    imported(
        name="Its modules import",
        modules=[path.removesuffix(".py").replace("/", ".") for path in texts],
        python=f"{engine.root}/bin/python",
        content=sha256(content).hexdigest(),
    )


def texts_of(settings: Settings) -> dict[str, str]:
    """The overlay's files; raises DeployError, one line, before any host is changed."""
    overlay = settings.overlay
    if overlay.name is None:
        return {}
    try:
        return overlay_texts(overlay.name, overlay.folder, str(overlay.source))
    except OverlayError as error:
        raise DeployError(f"overlay {overlay.name}: {error}") from error
