"""The image of a container: pinned, and no more rights or variables than declared."""

import re
from collections.abc import Iterator

from glmstead.settings.model import Cluster, Settings
from glmstead.settings.problem import UNSET, Problem

_PINNED = re.compile(r"[A-Za-z0-9._-]+(\[[A-Za-z0-9._,-]+\])?==[A-Za-z0-9.+!]+")
_NEEDED = {
    "registry": ("name", "digest"),
    "archive": ("archive", "archive_sha256", "digest"),
    "build": ("base_name", "base_digest"),
}
_FIXES = {
    "digest": "a tag can move: give the sha256 that docker inspect or the registry shows",
    "base_digest": "docker buildx imagetools inspect NAME:TAG shows it; choose the tag yourself",
    "archive_sha256": "the .json beside the tar, where it was built, says it",
}


def pinned_image(settings: Settings, cluster: Cluster) -> Iterator[Problem]:
    """An image is named by what cannot move, and patched only where it is built."""
    image, tags = settings.image, settings.patches.tags
    if settings.engine.kind != "container":
        return
    for field in _NEEDED[image.source]:
        if getattr(image, field) is None:
            fix = _FIXES.get(field, f"image_source {image.source} needs it")
            yield Problem(f"image_{field}", UNSET, "a value is needed", fix)
    if tags and image.source != "build":
        wrong = "an image that is not built here is not edited"
        yield Problem("patches_tags", tags, wrong, 'set image_source to "build", or no tags')
    if settings.container.runtime == "apptainer" and image.source != "archive":
        wrong = "Apptainer runs an image that Docker built and saved elsewhere"
        fix = 'set image_source to "archive", and image_archive to the tar'
        yield Problem("image_source", image.source, wrong, fix)
    if image.ray_packages and image.source != "build":
        wrong = "only a built image gets packages"
        yield Problem("image_ray_packages", image.ray_packages, wrong, "remove it")
    for package in image.ray_packages:
        if not _PINNED.fullmatch(package):
            yield Problem("image_ray_packages", package, "not pinned", "give it as NAME==VERSION")
    if image.privileged and not image.privileged_reason:
        wrong = "the container could do anything on this host"
        fix = "say why in image_privileged_reason, or use image_add_capabilities"
        yield Problem("image_privileged", True, wrong, fix)


def unset_variables(settings: Settings, cluster: Cluster) -> Iterator[Problem]:
    """What is taken out of the image's environment cannot be set as well."""
    for name in settings.image.unset:
        for key, values in (("engine_env", settings.engine.env), ("nccl_env", settings.nccl.env)):
            if name in values:
                wrong = "image_unset takes it away again"
                yield Problem(f"{key}.{name}", values[name], wrong, "keep it in one of them")
