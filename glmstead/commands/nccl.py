"""``glmstead nccl``: how the ranks of a cluster talk best, measured on its hosts."""

import json
from pathlib import Path
from typing import Any

import click

from glmstead import ROOT, places
from glmstead.commands.plan import (
    Refusal,
    check_inventory,
    inventory_argument,
    pyinfra_command,
    run_pyinfra,
)
from glmstead.text_table import table

PLAN = ROOT / "measure_nccl.py"
HEADER = ("STAGE", "SETTINGS", "RESULT", "GB/S", "LATENCY", "SECONDS")


@click.command()
@inventory_argument
@click.option("--show", is_flag=True, help="Show the last verdict; measure nothing.")
@click.option("--json", "as_json", is_flag=True, help="The receipt, for machines.")
def nccl(inventory: Path, show: bool, as_json: bool) -> None:
    """Measure how the GPUs of INVENTORY's deployed hosts talk best.

    Stops the engine; a deploy starts it again with the winner. Every way has a time limit.
    Exit status: 0 there is a verdict, 1 not.
    """
    check_inventory(inventory, ())
    if not show:
        words = pyinfra_command(inventory, (), "-y")
        done = run_pyinfra([*words[:-1], str(PLAN)])
        if done.returncode:
            raise SystemExit(1)
    receipt = _receipt(inventory)
    if receipt is None:
        raise Refusal("no verdict yet: glmstead deploy, then glmstead nccl, on hosts with GPUs")
    click.echo(json.dumps(receipt) if as_json else report(receipt))


def _receipt(inventory: Path) -> Any:
    # Imported here: they load pyinfra, which patches sockets and takes a second.
    from glmstead import inventory as inventories
    from glmstead.commands.ask_hosts import answers
    from glmstead.facts.documents import JsonDocument
    from glmstead.settings import cluster_of

    loaded = inventories.load(inventory)
    head = cluster_of(loaded).head.name
    questions = {host.name: {"path": places.NCCL_VERDICT} for host in loaded}
    return answers(loaded, questions, JsonDocument).get(head)


def report(receipt: dict[str, Any]) -> str:
    """The figures of every way that was tried, and the verdict in a line."""
    rows = [
        (
            stage,
            one["name"],
            one["status"] if one["status"] == "ok" else f"{one['status']}: {one['error']}",
            "-" if one["busbw_gb_s"] is None else f"{one['busbw_gb_s']:.1f}",
            "-" if one["latency_us"] is None else f"{one['latency_us']:.0f} us",
            f"{one['seconds']:.0f}",
        )
        for stage, tried in receipt["results"].items()
        for one in tried.values()
    ]
    env = " ".join(f"{name}={value}" for name, value in receipt["env"].items())
    lines = [table(HEADER, rows), "", f"Best: {receipt['name']}: {receipt['reason']}"]
    lines.append(f"{places.NCCL_ENV}: {env or 'nothing to set'}")
    return "\n".join([*lines, *([receipt["declared"]] if receipt["declared"] else [])])
