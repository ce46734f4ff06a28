"""What is true of a patch in an environment, and its edit made or undone: text in, text out.

A patch is a plain dict, as ``catalogue`` validates it. Sources are bytes by path, relative to the
folder that holds the package; a path that is absent is None.

Sent to hosts: standard library only, Python 3.10 and newer.
"""

from collections.abc import Mapping
from typing import Any

from glmstead.patching.edits import Place, Survey, occurrences, splice, survey
from glmstead.patching.execution import syntax_error
from glmstead.patching.releases import contains
from glmstead.patching.rules import Environment, holds
from glmstead.patching.source import ENCODING
from glmstead.patching.verdicts import (
    APPLIED,
    AS_DECLARED,
    DRIFTED,
    HALF,
    NOT_NEEDED,
    PENDING,
    REINSTALL,
    UNKNOWN,
    Finding,
)

Patch = dict[str, Any]
Sources = Mapping[str, bytes | None]


def judge(patch: Patch, environment: Environment, sources: Sources) -> Finding:
    """Say which of the nine verdicts holds, and why, in one line."""

    def read(path: str) -> bytes | None:
        return revert(patch, path, sources[path]) if path in paths(patch) else sources[path]

    carried = any(carries(patch, path, sources[path]) for path in paths(patch))
    for rule in patch["rules"]:
        if all(holds(test, environment, read) for test in rule["when"]):
            extra = "; its edit is in the file: revert it" if carried else ""
            broken = rule["verdict"] in AS_DECLARED and _broken(patch, environment, sources)
            return broken or Finding(rule["verdict"], rule["reason"] + extra)
    if environment.release is None:
        return Finding(UNKNOWN, f"{patch['package']} is not installed here")
    if not contains(patch["python"], environment.python):
        return Finding(NOT_NEEDED, f"Python {environment.python} needs no edit")
    found = _text_verdict(patch, sources)
    if found.verdict not in (APPLIED, PENDING, HALF):
        return found
    if not _made_for(patch, environment):
        return Finding(UNKNOWN, f"{_window(patch)}: nothing is touched")
    return _confirmed(found, patch, environment, sources)


def _made_for(patch: Patch, environment: Environment) -> bool:
    """Whether the release is one that the edit was read, made and undone on."""
    window = patch["releases"].get(environment.distribution)
    try:
        return window is not None and contains(window, environment.release or "")
    except ValueError:  # a version of somebody's own: their text may be anything
        return False


def _window(patch: Patch) -> str:
    return "made for " + " and ".join(f"{name} {spec}" for name, spec in patch["releases"].items())


def paths(patch: Patch) -> list[str]:
    """Files that the patch changes or brings."""
    return [str(file["path"]) for file in patch["files"]]


def apply(patch: Patch, path: str, data: bytes | None) -> bytes:
    """The file with every missing edit made; what is made already stays as it is."""
    file = _file(patch, path)
    if "content" in file:
        return _content(file)
    text = (data or b"").decode(ENCODING)
    return splice(text, survey(file["edits"], text).pending).encode(ENCODING)


def revert(patch: Patch, path: str, data: bytes | None) -> bytes | None:
    """The file with every edit undone; None: the patch brought the file, it goes."""
    file = _file(patch, path)
    if "content" in file:
        return None if data == _content(file) else data
    if not carries(patch, path, data):
        return data
    text = (data or b"").decode(ENCODING)
    return splice(text, survey(file["edits"], text).applied).encode(ENCODING)


def is_made(patch: Patch, sources: Sources) -> bool:
    """Whether the texts hold the whole edit, and hold it right."""
    return _text_verdict(patch, sources).verdict == APPLIED


def carries(patch: Patch, path: str, data: bytes | None) -> bool:
    """Whether the file holds the patch's tag."""
    return data is not None and occurrences(patch["tag"], data.decode(ENCODING)) > 0


def _file(patch: Patch, path: str) -> dict[str, Any]:
    file: dict[str, Any] = next(file for file in patch["files"] if file["path"] == path)
    return file


def _content(file: dict[str, Any]) -> bytes:
    return "".join(line + "\n" for line in file["content"]).encode(ENCODING)


def _survey(patch: Patch, path: str, data: bytes | None) -> Survey:
    file, whole = _file(patch, path), [Place(0, 0, "")]
    if "content" in file:
        tags = occurrences(patch["tag"], _content(file).decode(ENCODING))
        if data == _content(file):
            return Survey([], whole, tags, "")
        return Survey(whole, [], 0, "" if data is None else f"{path} is another file")
    if data is None:
        return Survey([], [], 0, f"{path} is absent")
    return survey(file["edits"], data.decode(ENCODING))


def _text_verdict(patch: Patch, sources: Sources) -> Finding:
    surveys = {path: _survey(patch, path, sources[path]) for path in paths(patch)}
    problem = next((found.problem for found in surveys.values() if found.problem), "")
    for path, found in surveys.items():
        tags = occurrences(patch["tag"], (sources[path] or b"").decode(ENCODING))
        if tags > found.tags or (tags and found.problem):
            what = found.problem or "not in this patch's own text"
            return Finding(DRIFTED, f"{path} carries the tag, but {what}: {REINSTALL}")
    if problem:
        return Finding(UNKNOWN, f"{problem}: nothing is touched, it is {_window(patch)}")
    made = sum(len(found.applied) for found in surveys.values())
    left = sum(len(found.pending) for found in surveys.values())
    if made and left:
        whole = all(not found.applied or not found.pending for found in surveys.values())
        cure = "apply finishes it" if whole else REINSTALL
        return Finding(HALF, f"{made} of {made + left} edits are made: {cure}", whole)
    return Finding(PENDING if left else APPLIED, patch["why"])


def _confirmed(found: Finding, patch: Patch, environment: Environment, sources: Sources) -> Finding:
    """The verdict, unless a file is broken or the edit could not be told apart and undone."""
    broken = _broken(patch, environment, sources)
    if broken:
        return broken
    if found.verdict == PENDING:
        made = {path: apply(patch, path, sources[path]) for path in paths(patch)}
        undone = all(revert(patch, path, made[path]) == sources[path] for path in made)
        if not undone or not is_made(patch, made):
            return Finding(UNKNOWN, f"{paths(patch)[0]}: the edit could not be undone exactly")
    return found


def _broken(patch: Patch, environment: Environment, sources: Sources) -> Finding | None:
    """What a file is that somebody's edit broke: no verdict of its text can stand."""
    for path in paths(patch):
        data = sources[path]
        if data is not None and path not in environment.stock:
            error = syntax_error(path, data)
            if error:
                return Finding(UNKNOWN, f"{path} does not compile ({error}): {REINSTALL}")
    return None
