"""Routes that start from another one: profiles as data."""

from runpy import run_path
from typing import Any

from glmstead import ROOT


def route_data(name: str, **added: dict[str, Any]) -> dict[str, Any]:
    """Return what group_data/<name>.py sets, for a file of its kind that changes a few of them.

    ``added``: entries to add to settings that are mappings.
    """
    found = run_path(str(ROOT / "group_data" / f"{name}.py"))
    data = {key: value for key, value in found.items() if not key.startswith("_")}
    return {**data, **{key: {**data[key], **entries} for key, entries in added.items()}}
