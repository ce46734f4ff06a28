"""Receipts: the JSON record of what a validation or a benchmark saw, and of what it saw it on."""

import json
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from glmstead import ROOT
from glmstead.serving import vllm_config
from glmstead.settings import Cluster, Settings
from glmstead.settings.problem import is_secret

FOLDER = ROOT / ".glmstead" / "receipts"


def header(kind: str, inventory: Path, settings: Settings, cluster: Cluster) -> dict[str, Any]:
    """What was declared: route, hosts, model, flags, patches; no secret is among it."""
    env = {**settings.engine.env, **settings.nccl.env}
    return {
        "kind": kind,
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "glmstead": version("glmstead"),
        "inventory": str(inventory),
        "route": settings.route,
        "hosts": cluster.hosts,
        "model": {"name": settings.model.name, "revision": settings.model.revision},
        "flags": vllm_config(settings),
        "environment": {name: "***" if is_secret(name) else env[name] for name in sorted(env)},
        "patches": list(settings.patches.tags),
    }


def found_on(state: dict[str, Any]) -> dict[str, Any]:
    """What the host said of itself: versions, hardware, kernel; never its key."""
    return {name: state[name] for name in ("versions", "hardware", "kernel")}


def write(receipt: dict[str, Any], path: Path | None) -> Path:
    """Write a receipt to ``path``, by default under .glmstead/receipts; returns where."""
    if path is None:
        moment = receipt["at"].replace(":", "").replace("+0000", "Z")
        FOLDER.mkdir(parents=True, exist_ok=True)
        path = FOLDER / f"{receipt['kind']}-{receipt['route']}-{moment}.json"
    path.write_text(json.dumps(receipt, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return path
