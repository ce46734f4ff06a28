"""The program that runs on a host, under the interpreter of the environment it looks at.

One request in, one JSON document out: ``{"python", "rows", "changed", "refused"}``. A request is
``{"action": "probe" | "apply" | "revert", "patches": [...], "tags": [...], "paths": [...] or None}``;
verdicts are given for all ``patches``, only ``tags`` are changed.

Sent to hosts: standard library only, Python 3.10 and newer.
"""

import contextlib
import json
import os
import sys
import warnings
from typing import Any

from glmstead.patching.engine import Patch, apply, carries, is_made, paths, revert
from glmstead.patching.environment import Installed
from glmstead.patching.execution import execution_error, syntax_error
from glmstead.patching.verdicts import DRIFTED, Finding, blocks, left_to_do
from glmstead.patching.writer import compile_bytecode, locked, replace_all


def main(request: dict[str, Any]) -> int:
    """Answer a request; 0, or 1 when patches were refused or a file could not be written."""
    warnings.simplefilter("ignore")  # a source's own SyntaxWarnings say nothing about a patch
    os.umask(0o022)
    try:
        changed, refused = _change(request) if request["action"] != "probe" else ([], [])
        installed = Installed(request)
        rows = [installed.row(patch) for patch in request["patches"]]
    except (OSError, TimeoutError) as error:
        print(f"patches: {error}", file=sys.stderr)
        return 1
    answer = {"python": installed.python, "rows": rows, "changed": changed, "refused": refused}
    print(*refused, sep="\n", end="\n" if refused else "", file=sys.stderr)
    print(json.dumps(answer))
    return 1 if refused else 0


def _change(request: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Make or undo the tags of a request: paths changed, and lines that say why nothing was."""
    undo, tags = request["action"] == "revert", request["tags"]
    with contextlib.ExitStack() as held:
        for folder in sorted(Installed(request).folders(tags)):
            held.enter_context(locked(folder))
        installed = Installed(request)
        chosen = [patch for patch in installed.patches if patch["tag"] in tags]
        findings = [(patch, installed.judge(patch)) for patch in chosen]
        refused = [_line(patch, found) for patch, found in findings if _refuses(found, undo)]
        if not undo:
            chosen = [
                patch for patch, found in findings if left_to_do(found.verdict, found.repairable)
            ]
        new = {} if refused else _planned(installed, chosen, undo)
        refused += [] if undo or refused else _unmade(installed, chosen, new)
        refused += _broken([] if undo else chosen, new)
        if not refused:
            _write(installed, new)
    return ([] if refused else sorted(new)), refused


def _refuses(found: Finding, undo: bool) -> bool:
    return found.verdict == DRIFTED if undo else blocks(found.verdict, found.repairable)


def _line(patch: Patch, found: Finding) -> str:
    instead = f"; or serve with {patch['flag']} instead" if patch.get("flag") else ""
    return f"{patch['tag']}: {found.verdict}: {found.reason}{instead}"


def _planned(installed: Installed, chosen: list[Patch], undo: bool) -> dict[str, bytes | None]:
    """New bytes by path, None to remove; outdated texts of ours in these files are renewed."""
    touched = {path for patch in chosen for path in paths(patch)}
    new = {path: installed.sources[path] for path in touched}
    for patch in installed.patches:
        for path in touched.intersection(paths(patch)):
            if undo and patch in chosen:
                new[path] = revert(patch, path, new[path])
            elif patch in chosen or patch["tag"] in installed.outdated.get(path, ()):
                new[path] = apply(patch, path, new[path])
    return {path: data for path, data in new.items() if data != installed.on_disk[path]}


def _unmade(installed: Installed, chosen: list[Patch], new: dict[str, bytes | None]) -> list[str]:
    """Patches that would not stand whole in the planned texts: another one took their lines."""
    touched = {path for patch in chosen for path in paths(patch)}
    planned = {path: new[path] if path in new else installed.on_disk[path] for path in touched}
    return [
        f"{patch['tag']}: unknown: another patch of {paths(patch)[0]} changes the same lines: "
        "nothing is written; drop one of the two"
        for patch in chosen
        if not is_made(patch, planned)
    ]


def _broken(patches: list[Patch], new: dict[str, bytes | None]) -> list[str]:
    """Why the planned texts must not be written; stock texts may fail to run, that is the point."""
    lines = []
    for path, data in new.items():
        if data is None:
            continue
        run = any(patch["check"] == "execute" and path in paths(patch) for patch in patches)
        error = syntax_error(path, data) or (execution_error(path, data) if run else "")
        if error:
            lines.append(f"{path}: unsafe: the patched text fails ({error}): nothing is written")
    return lines


def _write(installed: Installed, new: dict[str, bytes | None]) -> None:
    for path, data in new.items():
        stock = installed.without_ours(path)
        tags = [patch["tag"] for patch in installed.patches if carries(patch, path, data)]
        if data is not None and tags and stock is not None:
            installed.store.keep(stock, data, tags)
    replace_all({installed.place(path): data for path, data in new.items()})
    for path, data in new.items():
        if data is not None and not installed.searched:
            compile_bytecode(installed.place(path))
