"""Requests to the probe, made from the catalogue."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from glmstead.patching.catalogue import Patch

Action = Literal["apply", "revert"]


def probe_request(
    catalogue: Mapping[str, Patch], tags: Iterable[str] | None = None
) -> dict[str, Any]:
    """Ask for the verdicts of some tags, or of the whole catalogue."""
    wanted = set(catalogue if tags is None else tags)
    patches = [patch.plain() for tag, patch in catalogue.items() if tag in wanted]
    return {"action": "probe", "patches": patches, "tags": []}


def change_request(
    catalogue: Mapping[str, Patch], action: Action, tags: Iterable[str]
) -> dict[str, Any]:
    """Ask to make or undo some tags; the whole catalogue goes along, to tell what else is ours."""
    patches = [patch.plain() for patch in catalogue.values()]
    return {"action": action, "patches": patches, "tags": list(tags)}
