"""``glmstead recover``: a clean restart of the whole cluster, through plain pyinfra."""

from pathlib import Path

import click

from glmstead.commands.narrated import run_narrated
from glmstead.commands.plan import check_inventory, inventory_argument, pyinfra_command


@click.command()
@inventory_argument
@click.option("-v", "--verbose", count=True, help="More output, as of pyinfra; up to -vvv.")
def recover(inventory: Path, verbose: int) -> None:
    """Stop the engine and Ray on all hosts of INVENTORY, end what is left, start and ask.

    Safe at any time; clients get 503 meanwhile. Exit status: 0 it has answered, 1 not.
    """
    check_inventory(inventory, ())
    options = ["-y", *(["-" + "v" * verbose] if verbose else [])]
    status = run_narrated(pyinfra_command(inventory, (), *options, plan="recover.py"))
    raise SystemExit(1 if status else 0)
