"""The verdict on how ranks talk: measured on the hosts themselves, kept with its figures."""

import json
from collections.abc import Generator
from typing import Any

from pyinfra import host
from pyinfra.api import Host, QuoteString, StringCommand, operation

from glmstead import places
from glmstead.containers import plain_env_file
from glmstead.facts.documents import JsonDocument
from glmstead.gpu.fitness import holders_of
from glmstead.nccl import stages
from glmstead.nccl.command import trial_command
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


def is_due(settings: Settings, cluster: Cluster, image: str | None, again: bool) -> bool:
    """Whether any host lacks a verdict for what it is now; all hosts measure, or none."""
    for member in cluster.members:
        target = peer(member.name)
        found = gpu_host_of(target, settings, cluster)
        receipt = document(target, places.NCCL_VERDICT)
        if receipt is None or receipt["key"] != stages.key(found, settings, cluster, image):
            return True
    return again


@operation()
def freed(settings: Settings, cluster: Cluster, image: str | None, again: bool) -> Commands:
    """
    Ensure no process holds a GPU when it is measured: the engine is stopped, others are named.

    + settings: of this host
    + cluster: all hosts of the inventory
    + image: what the engine's container is made of; None: no container
    + again: measure although there is a verdict
    """
    if not is_due(settings, cluster, image, again):
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
def tried(settings: Settings, cluster: Cluster, image: str | None, stage: str) -> Commands:
    """
    Try every candidate that is left, as the engine would run; hosts of one stage run at once.

    + settings: of this host
    + cluster: all hosts of the inventory
    + image: what the engine's container is made of; None: no container
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
    path, new = QuoteString(stages.path(stage)), QuoteString(f"{stages.path(stage)}.new")
    yield StringCommand(
        *("mkdir -p", places.NCCL_TRIALS, "&&"),
        *(QuoteString(word) for word in trial_command(settings, request, image)),
        *(">", new, "&& mv", new, path),
    )


@operation()
def decided(settings: Settings, cluster: Cluster, image: str | None) -> Commands:
    """
    Ensure the environment of the winner and the receipt; refuse where nothing works.

    + settings: of this host
    + cluster: all hosts of the inventory
    + image: what the engine's container is made of; None: no container
    """
    if document(host, places.NCCL_VERDICT) is not None:
        host.noop("measured before")
        return
    found = verdict_of(settings, cluster)
    if found.name is None:
        yield refuse(f"NCCL: {found.reason}: see docs/gpu-host.md, and nvidia-smi topo -m")
        return
    key = stages.key(gpu_host_of(host, settings, cluster), settings, cluster, image)
    # What is declared wins; in an image's environment nothing may stand twice.
    env = {name: value for name, value in found.env.items() if name not in settings.nccl.env}
    text = plain_env_file(env) if image else env_file(env)
    receipt = json.dumps({"key": key, **found.document})
    yield from managed_files._inner(
        files=[
            ManagedFile(places.NCCL_ENV, text or "# NCCL's own choice is best\n"),
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
