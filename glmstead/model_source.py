"""What a host is asked to fetch, and whether what lies there is it; computed from settings; no I/O."""

import json
from hashlib import sha256
from typing import Any

from glmstead import places
from glmstead.checkpoint.edits import CONFIG, QUANT, corrections
from glmstead.checkpoint.listing import Listing
from glmstead.settings import Cluster, Settings
from glmstead.settings.sections.serving import MODEL_FILES, ModelSettings

GB = 1e9


def origin_of(model: ModelSettings, listing: Listing | None) -> str:
    """Return where the checkpoint comes from, to the version, as its manifest says.

    ``listing`` holds the files of this machine for the source controller.
    """
    if listing is not None:
        content = json.dumps(listing.document()["files"], sort_keys=True)
        return f"controller {sha256(content.encode()).hexdigest()[:16]}"
    source = (
        f"{model.repo}@{model.revision}" if model.source == "hub" else f"host {model.directory}"
    )
    return source if model.files == MODEL_FILES else f"{source} {' '.join(model.files)}"


def whats_wrong(state: dict[str, Any], model: ModelSettings, origin: str) -> list[str]:
    """Return why a host's folder is not the checkpoint, as its probe tells; empty when it is."""
    if not state["origin"]:
        return ["not there" if not state["files"] else "not verified"]
    if state["origin"] != origin:
        return [f"{state['origin']} instead of {origin}"]
    lines = [f"{name} changed or missing" for name in state["lacking"]]
    lines += [f"{name} is not of it" for name in state["strays"]]
    if not lines and not state["copied"]:
        lines = [f"{places.MODEL_MANIFEST} is not of it"]
    documents = {CONFIG: state["config"], QUANT: state["quant"]}
    if model.correct_config and corrections(documents, state["kv_scales"]):
        lines.append("its config is to be corrected")
    return lines


def request_for(
    settings: Settings, cluster: Cluster, name: str, listing: Listing | None
) -> dict[str, Any]:
    """Return the request of ``glmstead.checkpoint place`` for the host ``name``."""
    model = settings.model
    members = [member.name for member in cluster.members]
    port = model.share_port
    return {
        "root": model.path,
        "origin": origin_of(model, listing),
        "copy": places.MODEL_MANIFEST,
        "reserve_bytes": int(settings.system.disk_free_gb * GB),
        "files": list(model.files),
        "listing": Listing(origin_of(model, listing), listing.files).document()
        if listing
        else None,
        "hub": _hub(settings) if model.source == "hub" else None,
        "local": model.directory if model.source == "host" else None,
        "part": _part(model, members.index(name), len(members)),
        "peers": [f"{one.address}:{port}" for one in cluster.members if one.name != name],
        "stall_s": model.stall_s,
        "streams": model.fetch_workers,
        "correct": model.correct_config,
    }


def share_command(settings: Settings, cluster: Cluster, address: str) -> list[str]:
    """Return the words that lend this model to the cluster's hosts, at one host's own address."""
    allow = ",".join(member.address for member in cluster.members)
    model = settings.model
    share = ["share", model.path, "--bind", address, "--port", str(model.share_port)]
    return ["python3", "-B", "-m", "glmstead.checkpoint", *share, "--allow", allow]


def _part(model: ModelSettings, index: int, count: int) -> list[int] | None:
    """Which share of the files a host fetches from the hub itself: [i, n], or none."""
    if model.source != "hub" or model.fetch_on == "all":
        return [index, count]
    return [0, 1] if index == 0 else None


def _hub(settings: Settings) -> dict[str, Any]:
    model = settings.model
    # a container's host has no engine environment; the gateway's holds the client too
    root = settings.gateway.root if settings.engine.kind == "container" else settings.engine.root
    return {
        "python": f"{root}/bin/python",
        "repo": model.repo,
        "revision": model.revision,
        "endpoint": model.endpoint,
        "token_file": places.HUB_TOKEN,
        "xet": model.xet,
        "workers": model.fetch_workers,
        "stall_s": model.stall_s,
    }
