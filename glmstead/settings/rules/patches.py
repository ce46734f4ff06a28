"""Patches are known, made for the pinned releases, and stand together with the other settings."""

from collections.abc import Iterator

from glmstead.patching.catalogue import CatalogueError, load_catalogue
from glmstead.patching.policy import conflicts, window_error
from glmstead.settings.model import Cluster, Settings
from glmstead.settings.problem import Problem


def patch_windows(settings: Settings, cluster: Cluster) -> Iterator[Problem]:
    """Every tag is in the catalogue, its window includes the pinned versions, it has no conflict."""
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
    speculation = settings.vllm.speculative_config
    method = str((speculation or {}).get("method", ""))
    for wrong, fix in conflicts(catalogue, tags, {"vllm_speculative_config": method}):
        yield Problem("vllm_speculative_config", speculation, wrong, fix)
