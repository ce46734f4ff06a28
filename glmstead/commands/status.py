"""``glmstead status``: units of every host, what Ray holds, what the engine does, what is wrong."""

import json
import sys
import time
from pathlib import Path
from typing import Any

import click

from glmstead import places
from glmstead.commands.plan import declared, inventory_argument
from glmstead.metrics import wanted
from glmstead.settings.model import Cluster, Settings
from glmstead.status_report import Report, judge
from glmstead.text_table import table
from glmstead.watching import ray_question

HEADER = ("HOST", "UNIT", "STATE", "SINCE", "RESTARTS")
REFRESH_S = 2.0


@click.command()
@inventory_argument
@click.option("--watch", is_flag=True, help="Show it again and again, until Ctrl-C.")
@click.option("--json", "as_json", is_flag=True, help="For machines.")
def status(inventory: Path, watch: bool, as_json: bool) -> None:
    """Say what runs where on the hosts of INVENTORY, what is wrong, and what to do next.

    Exit status: 0 everything runs, 1 not.
    """
    loaded, settings, cluster = declared(inventory)
    questions = {name: question(one, name, cluster) for name, one in settings.items()}
    while True:
        report = _ask(loaded, questions, str(inventory))
        shown = json.dumps(report.document, indent=2) if as_json else text(report)
        click.echo(shown if not watch or as_json else f"\x1b[2J\x1b[H{shown}")
        if not watch:
            sys.exit(1 if report.wrong else 0)
        time.sleep(REFRESH_S)


def _ask(loaded: Any, questions: dict[str, dict[str, Any]], inventory: str) -> Report:
    from glmstead.commands.ask_hosts import answers

    return judge(questions, answers(loaded, questions), inventory)


def question(settings: Settings, name: str, cluster: Cluster) -> dict[str, Any]:
    """Return what to ask a host: its units, and on the head also Ray and the engine."""
    is_head = name == cluster.head.name
    on_ray = settings.engine.kind == "ray"
    on_head = [places.RAY_HEAD, places.VLLM] if on_ray else [places.VLLM]
    units = on_head if is_head else [places.RAY_WORKER]
    if name == cluster.gateway.name:
        units += [places.GATEWAY, places.GATE]
    measured = [part.unit for part in wanted(settings, name == cluster.gateway.name)]
    ray = {"words": ray_question(settings, cluster), "environment": places.ENGINE_ENV}
    url = f"http://127.0.0.1:{settings.vllm.port}"
    engine = {"unit": places.VLLM, "url": url, "gate": places.GATE_FOLDER}
    return {
        "units": [*units, places.WATCH, *measured],
        "ray": ray if is_head and on_ray else None,
        "engine": engine if is_head else None,
    }


def text(report: Report) -> str:
    """Return what people read."""
    lines = [table(HEADER, report.rows), ""]
    lines += [f"Ray:     {report.ray}"] if report.ray else []
    lines.append(f"Engine:  {_engine(report)}")
    for one in report.wrong:
        lines += ["", f"Wrong:   {one.what}", f"Next:    {one.next}"]
    return "\n".join(lines)


def _engine(report: Report) -> str:
    engine = report.engine
    pieces = [str(engine["phase"])]
    if engine.get("running") is not None:
        pieces.append(f"{engine['running']:.0f} running, {engine['waiting']:.0f} waiting")
        pieces.append(f"KV cache {engine['kv_cache']:.0%}")
    if engine.get("alive_at"):
        pieces.append(f"last progress {max(0.0, time.time() - engine['alive_at']):.0f} s ago")
    if engine.get("watch"):
        pieces.append(f"watch: {engine['watch']}")
    return "; ".join(pieces)
