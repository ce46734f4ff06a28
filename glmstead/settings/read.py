"""From a host's flat data to its sections, or to the problems with it."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails, PydanticUndefined

from glmstead.settings.model import KEYS, SECTIONS, Settings
from glmstead.settings.problem import HIDDEN, UNSET, Problem, is_secret


def read(route: str, data: Mapping[str, object]) -> Settings | list[Problem]:
    """Return the settings that the known keys of ``data`` make, or every problem found."""
    sections: dict[str, Any] = {}
    problems: list[Problem] = []
    for prefix, section in SECTIONS.items():
        fields = {
            name: data[f"{prefix}_{name}"]
            for name in section.model_fields
            if f"{prefix}_{name}" in data
        }
        try:
            sections[prefix] = section.model_validate(fields)
        except ValidationError as error:
            problems += _problems(prefix, route, error)
    return problems or Settings(route=route, **sections)


def unknown(data: Mapping[str, object], foreign: frozenset[str]) -> Iterator[Problem]:
    """Yield a problem for each key that is neither ours nor one of ``foreign``."""
    known = sorted({*KEYS, *foreign})
    for key, value in data.items():
        if key in KEYS or key in foreign:
            continue
        near = get_close_matches(key, known, n=1, cutoff=0.7)
        # A misspelt secret is still a secret.
        hidden = any(is_secret(name) for name in near)
        fix = f"did you mean {near[0]}?" if near else _family(key, foreign)
        yield Problem(key, HIDDEN if hidden else value, "unknown setting", fix)


def _family(key: str, foreign: frozenset[str]) -> str:
    """Return what to do about a key like no other: the keys that share its prefix, if any."""
    prefix = key.split("_")[0] + "_"
    family = sorted(name for name in {*KEYS, *foreign} if name.startswith(prefix))
    if family and not key.startswith("_"):
        return f"use one of {', '.join(family)}"
    return "remove it; docs/settings.md lists every key"


def _problems(prefix: str, route: str, error: ValidationError) -> list[Problem]:
    """Return one problem a setting: a union reports each of its branches."""
    found: dict[str, Problem] = {}
    for details in error.errors(include_url=False):
        key = _key(prefix, details)
        found.setdefault(key, _problem(key, prefix, route, details))
    return list(found.values())


def _key(prefix: str, details: ErrorDetails) -> str:
    """Return ``vllm_port``, or ``engine_env.NAME`` for an entry of a mapping or a list."""
    field, *rest = details["loc"]
    key = f"{prefix}_{field}"
    return f"{key}.{rest[0]}" if rest and rest[0] != "[key]" else key


def _problem(key: str, prefix: str, route: str, details: ErrorDetails) -> Problem:
    field = SECTIONS[prefix].model_fields[str(details["loc"][0])]
    if details["type"] == "missing":
        where = "beside the host" if prefix == "cluster" else f"in group_data/{route}.py"
        return Problem(key, UNSET, "a value is needed", f"set it {where}: {field.description}")
    default = field.default
    example = "" if default in (PydanticUndefined, None, (), {}) else f", such as {default!r}"
    fix = f"give the {field.description}{example}"
    return Problem(key, details["input"], _wrong(details), fix)


def _wrong(details: ErrorDetails) -> str:
    """Return pydantic's finding as the middle of our line."""
    if details["type"] == "string_pattern_mismatch":
        return "not of the right form"
    if details["type"] == "value_error":
        return details["msg"].removeprefix("Value error, ")
    return "must be " + details["msg"].removeprefix("Input should be ")
