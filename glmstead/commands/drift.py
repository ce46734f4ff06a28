"""``glmstead drift``: what the plan would change, by host; nothing is changed."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import click

from glmstead.commands.plan import (
    Refusal,
    check_inventory,
    inventory_argument,
    limit_option,
    pyinfra_command,
    run_pyinfra,
)

DRIFT, UNKNOWN = 2, 1
Changes = dict[str, list[str]]
_ESCAPE = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


class Untold(Exception):
    """pyinfra could not say what it would change; the message is its own last word."""


@click.command()
@inventory_argument
@limit_option
@click.option("--json", "report", metavar="FILE", help="Write the report there; - is stdout.")
def drift(inventory: Path, limit: tuple[str, ...], report: str | None) -> None:
    """Say what differs from the declared state on each host of INVENTORY.

    Exit status: 0 nothing, 2 something, 1 it could not be told.
    """
    if report and not Path(report).parent.is_dir():
        raise Refusal(f"--json {report}: no such folder; fix: make it, or name another")
    check_inventory(inventory, limit)
    try:
        changes = planned_changes(
            run_pyinfra(
                pyinfra_command(inventory, limit, "--dry", "--json"),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        )
    except Untold as reason:
        click.echo(f"could not tell: {reason}", err=True)
        sys.exit(UNKNOWN)
    if report:
        _write(report, inventory, changes)
    if report != "-":
        click.echo(text(changes))
    sys.exit(DRIFT if changes else 0)


def planned_changes(run: subprocess.CompletedProcess[str]) -> Changes:
    """Return host -> operations that would change it, in order; raises Untold.

    Operations with a condition are left out: pyinfra counts them without looking at it, and they
    only follow others.
    """
    if run.returncode:
        raise Untold(_last_word(run.stderr))
    try:
        plan = json.loads(run.stdout)["plan"]
        if not plan:
            raise Untold("the plan is empty")
        changes: Changes = {}
        for operation in plan:
            for host in operation["hosts_with_change"]:
                changes.setdefault(host, []).append(operation["name"])
    except (KeyError, TypeError, ValueError) as error:
        raise Untold(f"pyinfra's answer is no plan: {error}") from error
    return dict(sorted(changes.items()))


def text(changes: Changes) -> str:
    """Return what people read."""
    if not changes:
        return "no drift"
    blocks = (
        "\n".join([host, *(f"  {name}" for name in names)]) for host, names in changes.items()
    )
    return "\n".join(blocks)


def _last_word(stderr: str) -> str:
    """Return the hosts that pyinfra could not reach, or else its last error, or last line."""
    lines = [line.strip() for line in _ESCAPE.sub("", stderr).splitlines() if line.strip()]
    unreachable = [" ".join(line.split()) for line in lines if "Could not connect" in line]
    if unreachable:
        return "; ".join(unreachable)
    errors = [line for line in lines if "error" in line.lower()]
    return (errors or lines or ["pyinfra said nothing"])[-1].removeprefix("--> ")


def _write(report: str, inventory: Path, changes: Changes) -> None:
    document: dict[str, Any] = {
        "inventory": str(inventory),
        "drift": bool(changes),
        "hosts": changes,
    }
    content = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    if report == "-":
        click.echo(content, nl=False)
    else:
        Path(report).write_text(content, encoding="utf-8")
