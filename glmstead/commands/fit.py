"""``glmstead fit``: does the model fit, by arithmetic alone; no host is contacted."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from glmstead.commands.plan import Refusal, inventory_argument
from glmstead.fit.plan_values import Plan
from glmstead.fit.verdict import Fit


@click.command()
@inventory_argument
@click.option(
    "--config",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="config.json of the checkpoint, instead of what is known of its repository.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object by route on stdout.")
def fit(inventory: Path, config: Path | None, as_json: bool) -> None:
    """Say whether the model of INVENTORY fits its GPUs, and the knob that would make it fit.

    Exit status: 0 it fits, 1 it does not, or it could not be told.
    """
    route, plan, found = _verdict(inventory, config)
    click.echo(
        json.dumps({route: asdict(found)}, indent=2) if as_json else _text(route, plan, found)
    )
    raise SystemExit(0 if found.fits else 1)


def _verdict(path: Path, config: Path | None) -> tuple[str, Plan, Fit]:
    # Imported here: inventories load pyinfra, which takes a second.
    from glmstead import inventory as inventories
    from glmstead.fit.plan import card_of, plan_of
    from glmstead.fit.verdict import fit as verdict
    from glmstead.settings import cluster_of

    try:
        inventory = inventories.load(path)
        settings = next(iter(inventories.settings_of(inventory).values()))
        card = card_of(settings, config)
    except (inventories.InventoryError, ValueError) as error:
        raise Refusal(str(error)) from error
    if card is None:
        fix = "give its config.json with --config"
        raise Refusal(
            f"{settings.model.repo or settings.model.name}: unknown checkpoint; fix: {fix}"
        )
    plan = plan_of(settings, cluster_of(inventory), card)
    return settings.route, plan, verdict(plan)


def _text(route: str, plan: Plan, found: Fit) -> str:
    attention = "dense" if plan.dense else "sparse"
    where = "CPU ranks" if plan.cpu_cache is not None else f"GPUs of {plan.gpu_gib:g} GiB"
    besides = found.activations_gib_per_gpu + found.fixed_gib_per_gpu
    rows: list[tuple[str, Any]] = [
        ("weights", f"{found.weights_gib_per_gpu:.2f} GiB a GPU"),
        (
            "besides",
            f"{besides:.2f} GiB a GPU ({found.activations_gib_per_gpu:.2f} activations of "
            f"{plan.batched} tokens, {found.fixed_gib_per_gpu:.2f} graphs, buffers and workspaces)",
        ),
        (
            "KV cache",
            f"{found.kv_gib_per_gpu:.2f} GiB a GPU: {found.kv_pool_tokens:,} tokens of "
            f"{found.kv_bytes_per_token:,} bytes"
            + (f", cut by DCP {plan.context_parallel}" if plan.context_parallel > 1 else ""),
        ),
        ("context", f"{plan.context:,} declared, {found.max_context:,} possible"),
        ("requests", f"{found.concurrency:.2f} at once of the declared context"),
        ("heads", f"{found.heads_per_gpu:g} a GPU"),
    ]
    shape = f"tensor {plan.tensor}, pipeline {plan.pipeline}, {plan.hosts} hosts"
    head = (
        f"{route}: {plan.card.name} on {plan.tensor * plan.pipeline} {where}, {attention} ({shape})"
    )
    lines = [head, *(f"  {name:<10}{text}" for name, text in rows)]
    lines += [f"  note      {line}" for line in found.warnings]
    return "\n".join([*lines, "fits" if found.fits else f"does not fit: {found.reason}"])
