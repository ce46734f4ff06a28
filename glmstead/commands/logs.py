"""``glmstead logs``: the journals of all hosts, merged by time."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from glmstead.commands.plan import Refusal, declared, inventory_argument


@click.command()
@inventory_argument
@click.option("--since", default="", metavar="TIME", help='As of journalctl, such as "10 min ago".')
@click.option("--unit", multiple=True, metavar="PATTERN", help="Only this unit; may be repeated.")
@click.option(
    "--lines",
    type=click.IntRange(1, 1000000),
    help="The newest of each host; 200 without --since, else all.",
)
def logs(inventory: Path, since: str, unit: tuple[str, ...], lines: int | None) -> None:
    """Show what our services have logged on the hosts of INVENTORY, by time; times are UTC.

    Exit status: 0 all hosts were asked, 1 not.
    """
    from glmstead.commands.ask_hosts import answers
    from glmstead.facts.journal import Journal

    loaded, settings, _ = declared(inventory)
    newest = lines or (None if since else 200)
    question = {"units": list(unit) or ["glmstead-*"], "since": since, "lines": newest}
    found = answers(loaded, dict.fromkeys(settings, question), Journal)
    for line in merged(found):
        click.echo(line)
    problems = [f"{host} does not answer" for host in settings if host not in found]
    problems += [f"{host}: {said['error']}" for host, said in found.items() if said["error"]]
    if problems:
        raise Refusal("\n".join(problems))


def merged(found: dict[str, Any]) -> list[str]:
    """Return the lines of all hosts, oldest first; one that came first on a host stays first."""
    entries = [
        (micros, host, unit.removeprefix("glmstead-").removesuffix(".service"), text)
        for host, said in found.items()
        for micros, unit, text in said["lines"]
    ]
    width = max((len(host) for host in found), default=0)
    return [
        f"{_time(micros)} {host:{width}} {unit}: {text}"
        for micros, host, unit, text in sorted(entries, key=lambda entry: entry[0])
    ]


def _time(micros: int) -> str:
    return datetime.fromtimestamp(micros / 1e6, UTC).strftime("%m-%d %H:%M:%S.%f")[:-3]
