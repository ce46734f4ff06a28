"""Patches are known, and made for the pinned releases: elsewhere they are inert, or break."""

from collections.abc import Iterator

from glmstead import ROOT
from glmstead.settings.model import Cluster, Settings
from glmstead.settings.problem import Problem

CATALOGUE = ROOT / "files" / "patches"


def patch_windows(settings: Settings, cluster: Cluster) -> Iterator[Problem]:
    """Every tag is in the catalogue, and its window includes the pinned versions."""
    try:
        from glmstead.patching.catalogue import load_catalogue
        from glmstead.patching.policy import window_error
    except ModuleNotFoundError:
        return  # the patch engine is not built yet

    catalogue = load_catalogue(CATALOGUE)
    for tag in settings.patches.tags:
        if tag not in catalogue:
            fix = f"use one of {', '.join(sorted(catalogue))}"
            yield Problem("patches_tags", tag, "no such patch in files/patches", fix)
            continue
        wrong = window_error(catalogue[tag], settings.engine.version, settings.engine.python)
        if wrong:
            yield Problem("patches_tags", tag, wrong, "remove the tag, or pin another release")
