"""The checkpoint on a host: placed whole, verified by hash, fit to be served, everywhere the same."""

import json
from collections.abc import Generator
from typing import Any

from pyinfra import host
from pyinfra.api import (
    FileUploadCommand,
    FunctionCommand,
    Host,
    QuoteString,
    StringCommand,
    operation,
)

from glmstead import places
from glmstead.facts.model import ModelState
from glmstead.layer_map import serving_problems
from glmstead.model_source import origin_of, request_for, share_command, whats_wrong
from glmstead.operations.model_uploads import local_listing, uploads
from glmstead.operations.refusal import refuse
from glmstead.operations.secrets import rights
from glmstead.operations.units import made_stale, peer
from glmstead.settings import Cluster, Settings

Commands = Generator[StringCommand | FileUploadCommand | FunctionCommand, None, None]
_SHARE = "glmstead-model-share"
_PROGRAM = f"env PYTHONPATH={places.LIBEXEC} python3 -B -m glmstead.checkpoint"
_seen: dict[str, dict[str, Any]] = {}


def last_state(target: Host, path: str) -> dict[str, Any]:
    """Return what this run saw last of a host's model, asking only where it never did."""
    if target.name not in _seen:
        _seen[target.name] = target.get_fact(ModelState, path=path)
    return _seen[target.name]


@operation()
def placed(settings: Settings, cluster: Cluster) -> Commands:
    """
    Ensure a host holds the declared checkpoint, whole and verified, and that vLLM can serve it.

    Hosts lend each other what they have, so call it on all of them at once.

    + settings: of this host
    + cluster: all hosts of the inventory
    """
    model = settings.model
    listing = local_listing(model) if model.source == "controller" else None
    state = _seen[host.name] = host.get_fact(ModelState, path=model.path)
    wrong = whats_wrong(state, model, origin_of(model, listing))
    if not wrong:
        lines = unservable(state, settings)
        if lines:
            yield refuse("; ".join(lines))
        else:
            host.noop(f"{len(state['verified'])} files are as verified")
        return
    if state["files"]:  # else no engine can have loaded what is brought now
        yield from made_stale(places.ENGINE_UNITS)
    if listing is not None:
        yield from uploads(model, listing, state)
    request = request_for(settings, cluster, host.name, listing)
    yield FunctionCommand(_place, (settings, cluster, request, rights()), {})


@operation()
def same_as(other: str, path: str) -> Commands:
    """
    Refuse when this host's model differs from another host's, by their manifests.

    + other: name of the host to compare with
    + path: the model on both
    """
    here, there = last_state(host, path), last_state(peer(other), path)
    if other == host.name or not here["origin"] or not there["origin"]:
        host.noop("nothing to compare")
    elif here["manifest"] != there["manifest"]:
        yield refuse(
            f"{host.name} holds {here['origin']}, {other} {there['origin']}, in {path}; "
            "fix: deploy both hosts together, without --limit"
        )
    else:
        host.noop(f"same as on {other}")


def unservable(state: dict[str, Any], settings: Settings) -> list[str]:
    """Return why vLLM would not load what lies there, or would serve it wrongly."""
    lines = serving_problems(
        state["config"],
        state["index"],
        state["files"],
        # a fork's version says nothing about what it knows
        None if settings.vllm.layer_map == "always" else settings.engine.version,
        quantization=settings.model.quantization,
        kv_scales=state["kv_scales"],
        quant=state["quant"],
    )
    return [f"{settings.model.path}: {line}" for line in lines]


def _place(
    state: Any,
    host: Host,
    settings: Settings,
    cluster: Cluster,
    request: dict[str, Any],
    given: dict[str, Any],
) -> bool:
    """Have every host lend, run the host's program in sight, then judge what it placed."""
    if len(cluster.members) > 1:
        for member in cluster.members:
            # a host that cannot lend is no reason to stop: another one can, or the hub
            state.inventory.get_host(member.name).run_shell_command(
                _lend(settings, cluster, member.address), print_output=False, **given
            )
    done, _ = host.run_shell_command(
        StringCommand(_PROGRAM, "place"),
        print_output=True,
        print_input=False,
        _stdin=json.dumps(request),
        **given,
    )
    if not done:
        return False
    found = _seen[host.name] = host.get_fact(ModelState, path=settings.model.path, **given)
    lines = unservable(found, settings)
    if lines:
        host.run_shell_command(refuse("; ".join(lines)), print_output=True, **given)
    return not lines


def _lend(settings: Settings, cluster: Cluster, address: str) -> StringCommand:
    """Start a host's share where it does not run; it ends by itself when nobody asks any more."""
    unit = ["systemd-run --quiet --collect --unit", _SHARE, "-p", f"User={settings.system.user}"]
    unit += ["-p ProtectSystem=strict -p NoNewPrivileges=yes -p LimitNOFILE=65536"]
    unit += [f"--setenv=PYTHONPATH={places.LIBEXEC}"]
    words = [QuoteString(word) for word in share_command(settings, cluster, address)]
    active = f"systemctl is-active --quiet {_SHARE}"
    return StringCommand(active, "||", *unit, *words, "2>/dev/null ||", active)
