"""What every command on an inventory does first, and how it runs pyinfra on the plan."""

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from glmstead import ROOT

_Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

inventory_argument: _Decorator = click.argument("inventory", type=click.Path(path_type=Path))
limit_option: _Decorator = click.option(
    "--limit", multiple=True, metavar="PATTERN", help="Only this host or group; may be repeated."
)


def _in_a_folder(context: click.Context, parameter: click.Parameter, path: Path | None) -> Any:
    if path is not None and not path.parent.is_dir():
        raise click.BadParameter(f"{path.parent} is no folder")
    return path


def file_option(name: str, help_: str) -> _Decorator:
    """Return the option of a file to write: what cannot be written is refused before the work."""
    kind = click.Path(path_type=Path, dir_okay=False, writable=True)
    return click.option(name, type=kind, callback=_in_a_folder, help=help_)


class Refusal(click.ClickException):
    """What is wrong, one line a problem, shown as it is; exit status 1."""

    def show(self, file: Any = None) -> None:
        """Print the lines on stderr."""
        click.echo(self.message, err=True)


def check_inventory(path: Path, limit: Sequence[str]) -> None:
    """Refuse what can be refused before any host is contacted; raises Refusal."""
    # Imported here: it loads pyinfra, which patches sockets and takes a second.
    from glmstead import inventory as inventories
    from glmstead.fit.plan import misfit
    from glmstead.settings import cluster_of

    try:
        inventory = inventories.load(path)
        inventories.limited(inventory, limit)
        inventories.refuse_placeholders(inventory, path)
        settings = inventories.settings_of(inventory)
        reason = misfit(next(iter(settings.values())), cluster_of(inventory))
    except inventories.InventoryError as error:
        raise Refusal(str(error)) from error
    if reason:
        raise Refusal(reason)


def declared(path: Path) -> tuple[Any, dict[str, Any], Any]:
    """Return an inventory, the settings of its hosts and its cluster; raises Refusal."""
    # Imported here: they load pyinfra, which patches sockets and takes a second.
    from glmstead import inventory as inventories
    from glmstead.settings import cluster_of

    try:
        loaded = inventories.load(path)
        inventories.refuse_placeholders(loaded, path)
        settings = inventories.settings_of(loaded)
    except inventories.InventoryError as error:
        raise Refusal(str(error)) from error
    return loaded, settings, cluster_of(loaded)


def pyinfra_command(
    inventory: Path, limit: Sequence[str], *options: str, plan: str = "deploy.py"
) -> list[str]:
    """Return the words that run a plan; they hold from the project's root only."""
    limits = [word for pattern in limit for word in ("--limit", pattern)]
    return [
        *(sys.executable, "-m", "pyinfra", *options, "--fail-percent", "0", *limits),
        *("--group-data", str(ROOT / "group_data")),
        *(str(inventory.resolve()), str(ROOT / plan)),
    ]


def run_pyinfra(words: Sequence[str], **options: Any) -> subprocess.CompletedProcess[str]:
    """Run pyinfra in the project's root, where its configuration and templates are found."""
    return subprocess.run(words, cwd=ROOT, text=True, check=False, **options)
