"""The verdict on how ranks talk: measured on the hosts themselves, kept with its figures."""

import json
from collections.abc import Generator
from typing import Any

from pyinfra import host
from pyinfra.api import Host, QuoteString, StringCommand, operation

from glmstead import places
from glmstead.facts.documents import JsonDocument
from glmstead.gpu.fitness import holders_of
from glmstead.nccl import stages
from glmstead.nccl.verdict import Verdict, verdict
from glmstead.operations.gpu_host import gpu_host_of
from glmstead.operations.managed_files import ManagedFile, managed_files
from glmstead.operations.refusal import refuse
from glmstead.operations.units import peer
from glmstead.render import env_file
from glmstead.settings import Cluster, Settings

Commands = Generator[StringCommand, None, None]


def document(target: Host, path: str) -> dict[str, Any] | None:
    """A JSON document on a host."""
    found: dict[str, Any] | None = target.get_fact(JsonDocument, path=path)
    return found


def is_due(settings: Settings, cluster: Cluster, again: bool) -> bool:
    """Whether any host lacks a verdict for what it is now; all hosts measure, or none."""
    for member in cluster.members:
        target = peer(member.name)
        found = gpu_host_of(target, settings, cluster)
        receipt = document(target, places.NCCL_VERDICT)
        if receipt is None or receipt["key"] != stages.key(found, settings, cluster):
            return True
    return again


@operation()
def freed(settings: Settings, cluster: Cluster, again: bool) -> Commands:
    """
    Ensure no process holds a GPU when it is measured: the engine is stopped, others are named.

    + settings: of this host
    + cluster: all hosts of the inventory
    + again: measure although there is a verdict
    """
    if not is_due(settings, cluster, again):
        host.noop("measured before")
        return
    found = gpu_host_of(host, settings, cluster)
    if found.limits:
        yield StringCommand("systemctl stop", *(QuoteString(f"{u}.service") for u in found.limits))
    elif lines := holders_of(found, frozenset()):
        yield refuse(f"{'; '.join(lines)}: stop it before NCCL is measured")
    # An old verdict is gone before the trials, so that a killed run measures again.
    yield StringCommand("rm -f", places.NCCL_VERDICT)


@operation()
def tried(settings: Settings, cluster: Cluster, stage: str) -> Commands:
    """
    Try every candidate that is left, as the engine would run; hosts of one stage run at once.

    + settings: of this host
    + cluster: all hosts of the inventory
    + stage: one of ``nccl.stages.stages``
    """
    if document(host, places.NCCL_VERDICT) is not None:
        host.noop("measured before")
        return
    before = stages.stages(settings, cluster)
    before = before[: before.index(stage)]
    out = [
        name
        for member in cluster.members
        for one in before
        for name in stages.failed(document(peer(member.name), stages.path(one)))
    ]
    request = stages.request(stage, host.name, settings, cluster, without=out)
    python = f"{settings.engine.root}/bin/python"
    words = [python, f"{places.LIBEXEC}/{stages.PROGRAM}", json.dumps(request)]
    path, new = QuoteString(stages.path(stage)), QuoteString(f"{stages.path(stage)}.new")
    properties = (
        f"User={settings.system.user}",
        f"EnvironmentFile={places.ENGINE_ENV}",
        f"LimitNOFILE={settings.system.nofile}",
        "LimitMEMLOCK=infinity",
    )
    yield StringCommand(
        *("mkdir -p", places.NCCL_TRIALS, "&& systemd-run --quiet --wait --pipe --collect"),
        *(part for one in properties for part in ("-p", QuoteString(one))),
        *(QuoteString(word) for word in words),
        *(">", new, "&& mv", new, path),
    )


@operation()
def decided(settings: Settings, cluster: Cluster) -> Commands:
    """
    Ensure the environment of the winner and the receipt; refuse where nothing works.

    + settings: of this host
    + cluster: all hosts of the inventory
    """
    if document(host, places.NCCL_VERDICT) is not None:
        host.noop("measured before")
        return
    found = verdict_of(settings, cluster)
    if found.name is None:
        yield refuse(f"NCCL: {found.reason}: see docs/gpu-host.md, and nvidia-smi topo -m")
        return
    key = stages.key(gpu_host_of(host, settings, cluster), settings, cluster)
    receipt = json.dumps({"key": key, **found.document})
    yield from managed_files._inner(
        files=[
            ManagedFile(places.NCCL_ENV, env_file(found.env) or "# NCCL's own choice is best\n"),
            ManagedFile(places.NCCL_VERDICT, receipt + "\n"),
        ]
    )


def verdict_of(settings: Settings, cluster: Cluster) -> Verdict:
    """What all hosts together measured."""
    documents = {
        stage: [
            one
            for member in cluster.members
            if (one := document(peer(member.name), stages.path(stage))) is not None
        ]
        for stage in stages.stages(settings, cluster)
    }
    return verdict(stages.merged(documents))
