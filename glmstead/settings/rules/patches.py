"""Patches are known, and made for the pinned releases: elsewhere they are inert, or break."""

from collections.abc import Iterator

from glmstead.patching.catalogue import CatalogueError, load_catalogue
from glmstead.patching.policy import window_error
from glmstead.settings.model import Cluster, Settings
from glmstead.settings.problem import Problem


def patch_windows(settings: Settings, cluster: Cluster) -> Iterator[Problem]:
    """Every tag is in the catalogue, and its window includes the pinned versions."""
    engine, tags = settings.engine, settings.patches.tags
    try:
        catalogue = load_catalogue()
    except CatalogueError as error:
        yield Problem("patches_tags", tags, f"files/patches: {error}", "mend that file")
        return
    for tag in tags:
        if tag not in catalogue:
            fix = f"use one of {', '.join(sorted(catalogue))}"
            yield Problem("patches_tags", tag, "no such patch in files/patches", fix)
            continue
        wrong = window_error(catalogue[tag], engine.version, engine.python, engine.package)
        if wrong:
            yield Problem("patches_tags", tag, wrong, "remove the tag, or pin another release")
