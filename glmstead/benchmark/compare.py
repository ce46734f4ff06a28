"""Two benchmark receipts: what differs between them, and what became slower beyond noise; pure."""

import json
from typing import Any

from glmstead.benchmark.points import FIGURES

_DECLARED = (
    *("glmstead", "route", "hosts", "model", "flags", "environment", "patches"),
    *("versions", "hardware", "kernel"),
)


def changed(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """One line for each declared or found thing that differs."""
    lines = []
    for section in _DECLARED:
        before, after = _flat(section, old.get(section)), _flat(section, new.get(section))
        for name in sorted({*before, *after}):
            if before.get(name) != after.get(name):
                lines.append(f"{name}: {_shown(before, name)} -> {_shown(after, name)}")
    return lines


def slower(old: dict[str, Any], new: dict[str, Any], noise: float) -> list[str]:
    """One line for each figure worse than ``noise`` (a share) and than both runs' own spread."""
    before = {row["name"]: row for row in old["points"]}
    lines = []
    for row in new["points"]:
        for name in FIGURES if row["name"] in before else ():
            was, now = before[row["name"]][name], row[name]
            worse = was - now if name.endswith("tok_s") else now - was
            loss = worse / was if was else 0  # nothing was answered then
            spread = max(row["spread"][name], before[row["name"]]["spread"][name])
            if loss > max(noise, spread):
                lines.append(f"{row['name']}: {name} {was:g} -> {now:g} ({loss:.0%} worse)")
    return lines


def _flat(name: str, value: Any) -> dict[str, str]:
    if isinstance(value, dict):
        found: dict[str, str] = {}
        for key, one in value.items():
            found |= _flat(f"{name}.{key}", one)
        return found
    return {name: json.dumps(value, ensure_ascii=False)}


def _shown(found: dict[str, str], name: str) -> str:
    return found.get(name, "not set")
