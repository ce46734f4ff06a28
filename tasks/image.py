"""The engine as a container: Docker, the image, and the unit that runs it in the foreground."""

from functools import cache
from hashlib import file_digest
from pathlib import Path

from pyinfra.api import deploy
from pyinfra.api.exceptions import DeployError

from glmstead import ROOT, places
from glmstead.containers import (
    cache_mounts,
    container_env_file,
    image_reference,
)
from glmstead.image_build import Build, image_build
from glmstead.operations import container_image
from glmstead.operations.container_unit import container_unit
from glmstead.operations.debian import installed
from glmstead.operations.folders import folders
from glmstead.operations.managed_files import ManagedFile, managed_files
from glmstead.render import render
from glmstead.settings import Cluster, Settings
from tasks.overlay import texts_of
from tasks.single import around


@deploy("Image")
def place_image(settings: Settings) -> None:
    if settings.engine.kind != "container":
        return
    image = settings.image
    _check_archive(settings)
    if settings.container.runtime == "apptainer":
        installed(name="Apptainer", packages=settings.container.packages)
        container_image.converted(
            name="Image converted for Apptainer",
            sif=reference_of(settings),
            archive=ROOT / str(image.archive),
            checksum=str(image.archive_sha256),
        )
    elif image.source == "registry":
        container_image.pulled(name=f"{image.name} as pinned", settings=settings)
    elif image.source == "archive":
        container_image.loaded(name="Image of the tar", settings=settings)
    else:
        build = build_of(settings)
        container_image.built(name=f"{image.name} built and verified", build=build)
        container_image.saved(name="Tar for hosts without a registry", build=build)


def _check_archive(settings: Settings) -> None:
    """Refuse a tar that is to be sent and is not the declared one: no host is changed yet."""
    image, reference = settings.image, reference_of(settings)
    checksum = str(image.archive_sha256)
    if image.source != "archive":
        return
    if settings.container.runtime == "apptainer":
        here = container_image.is_converted(reference, checksum)
    else:
        here = container_image.image_id(reference) is not None
    if here:
        return
    tar = ROOT / str(image.archive)
    if not tar.is_file():
        raise DeployError(f"image_archive: no {tar}; fix: copy the tar there")
    if _sha256(tar) != checksum:
        raise DeployError(
            f"image_archive {tar.name} is not the tar of image_archive_sha256; fix: copy it again, "
            "or take the checksum from the .json beside it"
        )


@cache
def _sha256(tar: Path) -> str:
    with tar.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest()


@deploy("vLLM configuration")
def configure_server(settings: Settings, cluster: Cluster) -> None:
    if settings.engine.kind != "container":
        return
    folders(name="Caches of the image", paths=[*cache_mounts(settings)])
    environment = container_env_file(settings)
    allow_from = settings.cluster.allow_from
    slice_unit = render(f"systemd/{places.ENGINE_SLICE}.j2", allow_from=allow_from)
    managed_files(
        name="Environment and slice of the engine",
        files=[
            ManagedFile(places.ENGINE_ENV, environment),
            ManagedFile(f"{places.UNITS}/{places.ENGINE_SLICE}", slice_unit),
        ],
    )
    container_unit(
        name="vLLM unit",
        settings=settings,
        reference=reference_of(settings),
        around=around(settings),
    )


def build_of(settings: Settings) -> Build:
    """The build of a route that makes its image."""
    return image_build(settings, texts_of(settings))


def reference_of(settings: Settings) -> str:
    """What the unit runs."""
    image = settings.image
    if settings.container.runtime == "apptainer":
        return f"{places.IMAGES}/{str(image.digest).removeprefix('sha256:')[:12]}.sif"
    if image.source == "build":
        return build_of(settings).reference
    return image_reference(settings)
