"""``glmstead status``: units of every host and what Ray holds."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from glmstead import places
from glmstead.commands.plan import Refusal, inventory_argument
from glmstead.settings.model import Cluster, Settings
from glmstead.text_table import table

HEADER = ("HOST", "UNIT", "STATE", "SINCE", "RESTARTS")


@dataclass(frozen=True)
class Report:
    """What people read, and whether everything runs."""

    rows: tuple[tuple[str, ...], ...]
    ray: str
    running: bool


@click.command()
@inventory_argument
def status(inventory: Path) -> None:
    """Say what runs where on the hosts of INVENTORY.

    Exit status: 0 everything runs, 1 not.
    """
    # Imported here: they load pyinfra, which patches sockets and takes a second.
    from glmstead import inventory as inventories
    from glmstead.commands.ask_hosts import answers
    from glmstead.settings import cluster_of

    try:
        loaded = inventories.load(inventory)
        inventories.refuse_placeholders(loaded, inventory)
        settings = inventories.settings_of(loaded)
    except inventories.InventoryError as error:
        raise Refusal(str(error)) from error
    cluster = cluster_of(loaded)
    questions = {name: question(one, name, cluster) for name, one in settings.items()}
    report = judge(questions, answers(loaded, questions))
    click.echo(table(HEADER, report.rows))
    if report.ray:
        click.echo(f"\nRay: {report.ray}")
    sys.exit(0 if report.running else 1)


def question(settings: Settings, name: str, cluster: Cluster) -> dict[str, Any]:
    """Return what to ask a host: its units, and on the head also Ray."""
    is_head = name == cluster.head.name
    ray = settings.engine.kind == "ray"
    on_head = [places.RAY_HEAD, places.VLLM] if ray else [places.VLLM]
    units = on_head if is_head else [places.RAY_WORKER]
    if name == cluster.gateway.name:
        units.append(places.GATEWAY)
    words = [
        f"{settings.engine.root}/bin/python",
        f"{places.LIBEXEC}/wait_ray_nodes.py",
        f"{cluster.head.address}:{settings.ray.port}",
        str(settings.gpus_per_host),
        "0",  # do not wait
        *(member.address for member in cluster.members),
    ]
    return {
        "units": units,
        "ray": {"words": words, "environment": places.ENGINE_ENV} if is_head and ray else None,
    }


def judge(questions: dict[str, dict[str, Any]], found: dict[str, Any]) -> Report:
    """Return the report; a host missing from ``found`` gave no answer."""
    rows: list[tuple[str, ...]] = []
    running = True
    asks_ray = any(asked["ray"] is not None for asked in questions.values())
    ray = "not asked, the head gave no answer" if asks_ray else ""
    for host, asked in questions.items():
        answer = found.get(host)
        if answer is None:
            running = False
            rows.append((host, "-", "no answer", "-", "-"))
            continue
        if asked["ray"] is not None:
            ray = str(answer["ray"])
            running = running and ray.startswith("Ray holds")
        for unit in asked["units"]:
            shown = answer["units"][unit]
            running = running and shown["SubState"] == "running"
            rows.append((host, unit, *_cells(shown)))
    return Report(tuple(rows), ray.removeprefix("Ray "), running)


def _cells(shown: dict[str, str]) -> tuple[str, str, str]:
    if shown["LoadState"] == "not-found":
        return "not installed", "-", "-"
    state = shown["SubState"] if shown["ActiveState"] == "active" else shown["ActiveState"]
    if shown.get("Result", "success") != "success":
        state = f"{state} ({shown['Result']})"
    return state, shown["StateChangeTimestamp"] or "-", shown["NRestarts"]
