"""The edits of one file: where they stand, how they are made and undone exactly.

An edit is a dict in one of three forms:

* ``{"within": [scope, ...], "find": [line, ...], "put": [line, ...]}``: whole lines, indent kept,
  found once in every scope named (and nowhere else);
* ``{"after": "docstring", "put": [line, ...]}``: behind the module's docstring;
* ``{"one_of": [edit, ...]}``: exactly one of them fits, for text that differs between releases.

Sent to hosts: standard library only, Python 3.10 and newer.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from glmstead.patching.source import after_docstring, code_of, newline_at, scope_at

Edit = dict[str, Any]
_WORD = re.compile(r"[\w-]")


class Place(NamedTuple):
    """One spot of an edit: offsets in the text, and what stands or should stand there."""

    start: int
    end: int
    text: str


class Survey(NamedTuple):
    """Spots where edits are missing (with the new text), and made (with the old one)."""

    pending: list[Place]
    applied: list[Place]
    tags: int
    problem: str


def survey(edits: list[Edit], text: str) -> Survey:
    """Look at all edits of one file; ``problem`` says in a few words what does not fit."""
    code, parts = code_of(text), []
    for edit in edits:
        if "one_of" in edit:
            parts.append(_best([_survey_one(choice, text, code) for choice in edit["one_of"]]))
        else:
            parts.append(_survey_one(edit, text, code))
    return Survey(
        [place for part in parts for place in part.pending],
        [place for part in parts for place in part.applied],
        sum(part.tags for part in parts),
        next((part.problem for part in parts if part.problem), ""),
    )


def splice(text: str, places: list[Place]) -> str:
    """The text with every place replaced by its ``text``."""
    for place in sorted(places, reverse=True):
        text = text[: place.start] + place.text + text[place.end :]
    return text


def occurrences(tag: str, text: str) -> int:
    """How often the tag stands in the text as a word of its own."""
    found, at = 0, text.find(tag)
    while at >= 0:  # ten times as fast as a pattern that looks behind
        end = at + len(tag)
        found += not any(_WORD.match(text, near) for near in (at - 1, end) if near >= 0)
        at = text.find(tag, end)
    return found


def _best(choices: list[Survey]) -> Survey:
    fitting = [choice for choice in choices if not choice.problem]
    if len(fitting) > 1:
        return fitting[0]._replace(problem="more than one alternative fits")
    return fitting[0] if fitting else choices[0]


def _survey_one(edit: Edit, text: str, code: str) -> Survey:
    put = edit["put"]
    if "after" in edit:
        pending, applied, problem = _behind_docstring(put, text)
    else:
        pending, applied, problem = _whole_lines(edit, text, code)
    return Survey(pending, applied, len(applied) * len(_own_lines(edit)), problem)


def _own_lines(edit: Edit) -> list[str]:
    """Lines that the edit brings, each with the tag once."""
    kept = edit.get("find", ())
    return [line for line in edit["put"] if line and line not in kept]


def _whole_lines(edit: Edit, text: str, code: str) -> tuple[list[Place], list[Place], str]:
    find, put = edit["find"], edit["put"]
    made = list(_blocks(put, code))
    # an edit that only adds lines leaves its anchor standing inside what it made
    missing = [
        block
        for block in _blocks(find, code)
        if not any(spot.start() <= block.start() < spot.end() for spot in made)
    ]
    scopes = sorted(scope_at(code, block.start()) for block in made + missing)
    problem = ""
    if scopes != sorted(edit["within"]):
        place = " and ".join(edit["within"])
        found = f"stands in {', '.join(scopes)}, not in {place}"
        problem = f"{find[0]!r} {found if scopes else f'is not in {place}'}"
    return (
        [_place(block, put, text) for block in missing],
        [_place(block, find, text) for block in made],
        problem,
    )


def _place(block: re.Match[str], lines: list[str], text: str) -> Place:
    newline = block.groupdict().get("newline") or newline_at(text, block.end())
    indented = [block["indent"] + line if line else "" for line in lines]
    return Place(block.start(), block.end(), newline.join(indented))


def _blocks(lines: list[str], code: str) -> Iterator[re.Match[str]]:
    # most files hold no anchor: a plain search is far cheaper than the pattern
    return _pattern(tuple(lines)).finditer(code) if lines[0] in code else iter(())


@lru_cache(maxsize=256)
def _pattern(lines: tuple[str, ...]) -> re.Pattern[str]:
    pattern = r"^(?P<indent>[ \t]*)" + re.escape(lines[0])
    for number, line in enumerate(lines[1:]):
        pattern += r"(?P=newline)" if number else r"(?P<newline>\r?\n)"
        pattern += r"(?P=indent)" + re.escape(line) if line else ""
    return re.compile(pattern + r"(?=\r?\n|\Z)", re.MULTILINE)


def _behind_docstring(put: list[str], text: str) -> tuple[list[Place], list[Place], str]:
    at = after_docstring(text)
    if at is None:
        return [], [], "the end of the module's docstring cannot be told"
    before, rest = text[:at], text[at:]
    ends = re.search(r"\r?\n\Z", before)
    newline = ends.group() if ends else newline_at(text, at)
    block = newline.join(put)
    if before and not ends:  # the docstring is all there is, without a final newline
        return [Place(at, at, newline + block)], [], ""
    if rest == block and ends:  # made from that: the newline before it is ours too
        return [], [Place(ends.start(), len(text), "")], ""
    if rest.startswith(block + newline):
        return [], [Place(at, at + len(block + newline), "")], ""
    return [Place(at, at, block + newline)], [], ""
