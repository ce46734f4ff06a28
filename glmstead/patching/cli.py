"""``glmstead patches``: the verdict of every source patch, on hosts or in a local environment."""

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import click

from glmstead.patching.catalogue import CatalogueError, Patch, load_catalogue
from glmstead.patching.policy import as_declared, differences
from glmstead.patching.report import document, verdict_table

UNTOLD, NOT_AS_DECLARED = 1, 2
_LINE = 200  # characters of what somebody else's program says
Rows = list[dict[str, Any]]


class Untold(click.ClickException):
    """Why no verdict can be given, in one line; exit status 1."""

    def show(self, file: Any = None) -> None:
        """Print the line on stderr."""
        click.echo(self.message, err=True)


@click.command()
@click.argument("inventory", type=click.Path(path_type=Path), required=False)
@click.option("--python", metavar="PATH", help="Look at this interpreter's environment instead.")
@click.option("--tags", metavar="A,B", help="Only these patches; default: those that are needed.")
@click.option("--json", "as_json", is_flag=True, help="Print a list of rows for machines.")
@click.option("--apply", "action", flag_value="apply", help="With --python: make the edits.")
@click.option("--undo", "action", flag_value="revert", help="With --python: undo the edits.")
def patches(
    inventory: Path | None,
    python: str | None,
    tags: str | None,
    as_json: bool,
    action: Literal["apply", "revert"] | None,
) -> None:
    """Say the verdict of every source patch on the hosts of INVENTORY.

    Exit status: 0 all as declared, 2 not, 1 it could not be told.
    """
    if (inventory is None) == (python is None):
        raise Untold("give an INVENTORY, or --python PATH; see glmstead patches --help")
    try:
        catalogue = load_catalogue()
    except CatalogueError as error:
        raise Untold(str(error)) from error
    if action and (inventory or not tags):
        raise Untold(f"--{'undo' if action == 'revert' else action} goes with --python and --tags")
    wanted = _known(tags, catalogue) if tags else None
    if inventory is not None:
        rows, problems = _of_hosts(inventory, wanted, catalogue)
    else:
        rows, problems = _of_interpreter(str(python), wanted, catalogue, action)
    click.echo(json.dumps(rows, indent=2) if as_json else verdict_table(rows))
    for problem in problems:
        click.echo(problem, err=True)
    sys.exit(NOT_AS_DECLARED if problems else 0)


def _known(tags: str, catalogue: Mapping[str, Patch]) -> list[str]:
    wanted = [tag.strip() for tag in tags.split(",") if tag.strip()]
    if not wanted:
        raise Untold(f"--tags {tags}: no tag in it; known: {', '.join(sorted(catalogue))}")
    for tag in wanted:
        if tag not in catalogue:
            raise Untold(f"--tags {tag}: no such patch; known: {', '.join(sorted(catalogue))}")
    return wanted


def _of_interpreter(
    python: str,
    tags: list[str] | None,
    catalogue: Mapping[str, Patch],
    action: Literal["apply", "revert"] | None,
) -> tuple[Rows, list[str]]:
    """Rows of a local environment, after a change if one is asked for, and what is wrong."""
    from glmstead.patching.request import change_request, probe_request

    if action:
        answer = _answer(python, change_request(catalogue, action, tags or ()))
    else:
        answer = _answer(python, probe_request(catalogue, tags))
    shown = [row for row in answer["rows"] if tags is None or row["tag"] in tags]
    rows, refused = document(shown, catalogue), list[str](answer["refused"])
    if action == "revert":
        return rows, refused
    needed = tags or [tag for tag, patch in catalogue.items() if not patch.optional]
    return rows, refused or _not_as_declared(rows, needed, python)


def _answer(python: str, request: dict[str, Any]) -> dict[str, Any]:
    """The probe's answer under a local interpreter."""
    # Imported here: it loads pyinfra, which patches sockets and takes a second.
    from glmstead.patching.program import program_arguments

    program = shutil.which(python)
    if program is None:
        raise Untold(f"--python {python}: no such interpreter")
    words = [program, *program_arguments(request)]
    try:
        run = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False)
    except OSError as error:
        raise Untold(f"--python {python}: does not run: {error.strerror}") from error
    try:
        # the last line: an environment's own start-up code may print too
        answer: dict[str, Any] = json.loads((run.stdout.strip().splitlines() or [""])[-1])
        return {"rows": answer["rows"], "refused": answer["refused"]}
    except (ValueError, LookupError, TypeError) as error:
        last = (run.stderr.strip().splitlines() or ["it said nothing"])[-1][:_LINE]
        raise Untold(f"--python {python}: no verdict: {last}") from error


def _of_hosts(
    path: Path, tags: list[str] | None, catalogue: Mapping[str, Patch]
) -> tuple[Rows, list[str]]:
    """Rows of every host, and what is not as declared or differs between hosts."""
    from glmstead import inventory as inventories
    from glmstead.patching.hosts import verdicts

    try:
        loaded = inventories.load(path)
        inventories.refuse_placeholders(loaded, path)
        settings = inventories.settings_of(loaded)
    except inventories.InventoryError as error:
        raise Untold(str(error)) from error
    found = verdicts(
        loaded, {name: f"{one.engine.root}/bin/python" for name, one in settings.items()}
    )
    silent = [name for name in settings if name not in found]
    if silent:
        raise Untold(f"{', '.join(silent)}: no verdict: down, or without the engine's environment")
    rows, problems = Rows(), list[str]()
    for name, one in settings.items():
        needed = tags or list(one.patches.tags)
        own = document([row for row in found[name] if row["tag"] in needed], catalogue, name)
        rows, problems = rows + own, problems + _not_as_declared(own, needed, name)
    shared = tags or sorted({tag for one in settings.values() for tag in one.patches.tags})
    return rows, problems + differences(found, shared)


def _not_as_declared(rows: Rows, needed: list[str], where: str) -> list[str]:
    wrong = [
        row["tag"] for row in rows if row["tag"] in needed and not as_declared([row], [row["tag"]])
    ]
    return [f"{where}: not as declared: {', '.join(wrong)}"] if wrong else []
