"""``glmstead deploy``: plain pyinfra, after everything that can be refused at once."""

from pathlib import Path

import click

from glmstead.commands.narrated import run_narrated
from glmstead.commands.plan import (
    check_inventory,
    inventory_argument,
    limit_option,
    pyinfra_command,
)


@click.command()
@inventory_argument
@limit_option
@click.option("-v", "--verbose", count=True, help="More output, as of pyinfra; up to -vvv.")
@click.option("--dry", is_flag=True, help="Show the plan and change nothing.")
def deploy(inventory: Path, limit: tuple[str, ...], verbose: int, dry: bool) -> None:
    """Bring the hosts of INVENTORY to the declared state, then ask the endpoint.

    Exit status: 0 the hosts are as declared and have answered, 1 not.
    """
    check_inventory(inventory, limit)
    options = ["--dry" if dry else "-y"]
    if verbose:
        options.append("-" + "v" * verbose)
    # Without -y pyinfra asks whether to go on without a host that failed: never.
    answer = "no\n" * 2 if dry else ""
    status = run_narrated(pyinfra_command(inventory, limit, *options), answer)
    raise SystemExit(1 if status else 0)
