"""How far a trial reaches: two GPUs, then a host, then all hosts."""

import json
from collections.abc import Iterable
from hashlib import sha256
from typing import Any

from glmstead import ROOT, places
from glmstead.gpu.values import GpuHost
from glmstead.lock import lock_text
from glmstead.nccl.candidates import candidates
from glmstead.nccl.verdict import Results
from glmstead.settings import Cluster, Settings

PROGRAM = "nccl_trial.py"
TWO, HOST, ALL = "2 GPUs", "all GPUs of a host", "all hosts"
_PORTS = 10  # a stage's own; one for each candidate


def stages(settings: Settings, cluster: Cluster) -> list[str]:
    """The stages that mean something here, from narrow to wide."""
    count = settings.gpu.count
    wide = [ALL] if cluster.hosts > 1 and count else []
    return [*([TWO] if count > 1 else []), *([HOST] if count > 2 else []), *wide]


def path(stage: str) -> str:
    """Where a host keeps what a stage gave."""
    return f"{places.NCCL_TRIALS}/{stage.replace(' ', '-')}.json"


def request(
    stage: str, host: str, settings: Settings, cluster: Cluster, without: Iterable[str] = ()
) -> dict[str, Any]:
    """Argument of the trial program on one host; ``without`` names what failed before."""
    names = [member.name for member in cluster.members]
    count = settings.gpu.count
    everywhere = stage == ALL
    ranks = 2 if stage == TWO else count
    out = set(without)
    return {
        "ranks": ranks,
        "first": names.index(host) * count if everywhere else 0,
        "world": count * len(names) if everywhere else ranks,
        "address": cluster.head.address if everywhere else "127.0.0.1",
        "port": settings.nccl.trial_port + _PORTS * (TWO, HOST, ALL).index(stage),
        "candidates": [one for one in candidates(settings.nccl.env) if one["name"] not in out],
        "declared": sorted(settings.nccl.env),
        "limit_s": settings.nccl.trial_limit_s,
        "backend": "nccl",
    }


def merged(documents: dict[str, list[dict[str, Any]]]) -> Results:
    """Each stage over all hosts: the first host's figures, and any host's failure."""
    results: Results = {}
    for stage, hosts in documents.items():
        tried: dict[str, dict[str, Any]] = {}
        for one in (row for host in hosts for row in host["results"]):
            known = tried.setdefault(one["name"], one)
            if known["status"] == "ok" and one["status"] != "ok":
                tried[one["name"]] = one
        results[stage] = tried
    return results


def failed(document: dict[str, Any] | None) -> list[str]:
    """Candidates that did not pass a stage on one host."""
    return [
        one["name"] for one in (document or {"results": []})["results"] if one["status"] != "ok"
    ]


def key(found: GpuHost, settings: Settings, cluster: Cluster, image: str | None) -> str:
    """What a verdict holds for: another engine, driver, board or cluster is measured anew."""
    parts = [
        (ROOT / "files" / "libexec" / PROGRAM).read_text(),
        image or lock_text(settings.engine.lock),
        candidates(settings.nccl.env),
        found.driver.loaded,
        sorted(gpu.name for gpu in found.gpus),
        [member.address for member in cluster.members],
    ]
    return sha256(json.dumps(parts).encode()).hexdigest()
