"""Source patches of a Python environment: present, absent, and refused where they cannot work."""

import json
from collections.abc import Generator, Sequence

from pyinfra import host, state
from pyinfra.api import StringCommand, operation
from pyinfra.api.facts import get_fact

from glmstead.facts.files import FileStates
from glmstead.facts.patches import PatchVerdicts, Rows
from glmstead.operations.managed_files import ManagedFile, managed_files
from glmstead.operations.refusal import refuse
from glmstead.operations.units import made_stale, peer
from glmstead.patching.catalogue import load_catalogue
from glmstead.patching.policy import blocking, carried, manifest, pending
from glmstead.patching.program import program_command
from glmstead.patching.request import Action, change_request

Commands = Generator[StringCommand, None, None]


@operation()
def possible(tags: Sequence[str], python: str) -> Commands:
    """
    Refuse this host when a needed patch can neither be made here nor is needless.

    Place it before ``applied``: hosts run an operation side by side, so that nothing is written
    on any of them while one refuses.

    + tags: patches that are needed
    + python: interpreter of the environment
    """
    rows = _rows(python)
    if rows is None and not state.is_executing:
        host.noop(f"{python} does not exist yet")
    elif lines := _refusals(rows, tags, python):
        yield refuse("; ".join(lines))
    else:
        host.noop("every patch can be applied, or is not needed")


@operation()
def applied(tags: Sequence[str], python: str, units: Sequence[str] = ()) -> Commands:
    """
    Ensure source patches are made in an environment: all of them, or nothing is written.

    + tags: patches that are needed
    + python: interpreter of the environment
    + units: services that import the files, so that they restart even if the run is killed
    """
    rows = _rows(python)
    if rows is None and not state.is_executing:
        yield _change("apply", tags, python)  # the environment comes into being before this
    elif lines := _refusals(rows, tags, python):
        yield refuse("; ".join(lines))
    elif pending(rows or (), tags):
        yield from made_stale(units)
        yield _change("apply", tags, python)
    else:
        found = {row["tag"]: row["verdict"] for row in rows or ()}
        host.noop("; ".join(f"{tag} {found[tag]}" for tag in tags))


@operation()
def absent(tags: Sequence[str], python: str) -> Commands:
    """
    Ensure source patches are undone: the files are the wheel's own again.

    + tags: patches to undo
    + python: interpreter of the environment
    """
    rows = _rows(python)
    if rows and carried(rows, tags):
        yield _change("revert", tags, python)
    else:
        host.noop("not in this environment")


@operation()
def recorded(tags: Sequence[str], python: str, path: str) -> Commands:
    """
    Ensure a file lists the patched texts, for the guard at a unit's start.

    + tags: patches that are needed
    + python: interpreter of the environment
    + path: the list, read by ``glmstead.patching.guard``
    """
    rows = _rows(python)
    text = json.dumps(manifest(rows or [], tags), indent=1) + "\n"
    yield from managed_files._inner(files=[ManagedFile(path, text)])


@operation()
def same_as(other: str, tags: Sequence[str], python: str, path: str) -> Commands:
    """
    Refuse when this host's patched files differ from another host's: ranks must run one code.

    + other: name of the host to compare with
    + tags: patches that are needed
    + python: interpreter of the environment on both
    + path: the list of patched texts on both, compared first
    """
    lists = [target.get_fact(FileStates, paths=[path])[path] for target in (host, peer(other))]
    if other == host.name or lists[0] == lists[1]:
        host.noop(f"same as on {other}")
        return
    mine = host.get_fact(PatchVerdicts, python=python)
    theirs = peer(other).get_fact(PatchVerdicts, python=python)
    here, there = manifest(mine or [], tags), manifest(theirs or [], tags)
    differing = sorted(tag for tag in {*here, *there} if here.get(tag) != there.get(tag))
    files = sorted({entry["file"] for tag in differing for entry in here.get(tag, [])})
    yield refuse(
        f"{host.name} and {other} differ in patches {', '.join(differing)} ({', '.join(files)}); "
        "fix: deploy both hosts together, without --limit"
    )


def _rows(python: str) -> Rows | None:
    # a fact that fails its host from inside an operation would end the run with a traceback
    words = {"python": python}
    rows: Rows | None = get_fact(state, host, PatchVerdicts, kwargs=words, apply_failed_hosts=False)
    return rows


def _refusals(rows: Rows | None, tags: Sequence[str], python: str) -> list[str]:
    if rows is None:
        return [f"{python} does not exist: install the engine's environment first"]
    if not rows:
        return [f"{python} gave no verdict on the patches {', '.join(tags)}: run it by hand"]
    return blocking(rows, tags)


def _change(action: Action, tags: Sequence[str], python: str) -> StringCommand:
    return program_command(python, change_request(load_catalogue(), action, tags))
