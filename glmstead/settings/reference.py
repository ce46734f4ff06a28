"""Writes docs/settings.md from the models: ``python -m glmstead.settings.reference``."""

from typing import Literal, get_args, get_origin

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from glmstead import ROOT
from glmstead.settings.model import SECTIONS
from glmstead.settings.sections import Section

PAGE = ROOT / "docs" / "settings.md"

_HEAD = """\
# Every setting

Written by `scripts/settings-reference` from `glmstead/settings/sections/`; do not edit.

Settings live in `group_data/`: `all.py` for what routes share, `<route>.py` for a route; a host's own
data in the inventory comes last and wins. Keys are flat: `vllm_port` is the port of the section vllm.
A key that is not in this list, a value of the wrong type or a combination that cannot work is refused
before any host is contacted, in one line with the fix. Secrets are no settings.
"""


def reference() -> str:
    """Return the page."""
    return "\n".join([_HEAD, *(_section(prefix, one) for prefix, one in SECTIONS.items())])


def _section(prefix: str, section: type[Section]) -> str:
    title = (section.__doc__ or "").split("\n")[0].rstrip(".").replace("``", "`")
    rows = [
        f"| `{prefix}_{name}` | {_type(field)} | {_default(field)} | {field.description} |"
        for name, field in section.model_fields.items()
    ]
    head = [f"## {title}", "", "| key | type | default | meaning |", "|---|---|---|---|"]
    return "\n".join([*head, *rows, ""])


def _type(field: FieldInfo) -> str:
    base, *rest = _name(field.annotation).partition(" or None")
    return "".join([base, _bounds(field), *rest])


def _name(annotation: object) -> str:
    """Return a type as a reader of group_data knows it."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if annotation is type(None):
        return "None"
    if origin is Literal:
        return " or ".join(f'`"{one}"`' for one in arguments)
    if origin is dict:
        return "mapping"
    if origin is tuple:
        return "list of strings"
    if arguments:  # a union, or a type with constraints
        names = [_name(one) for one in arguments if isinstance(one, type) or get_origin(one)]
        return " or ".join(dict.fromkeys(names))
    return {"str": "string", "int": "integer", "float": "number", "bool": "True or False"}.get(
        getattr(annotation, "__name__", ""), str(annotation)
    )


def _bounds(field: FieldInfo) -> str:
    signs = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<"}
    found = [
        f"{sign} {getattr(one, key):g}"
        for one in field.metadata
        for key, sign in signs.items()
        if getattr(one, key, None) is not None
    ]
    return f" {', '.join(found)}" if found else ""


def _default(field: FieldInfo) -> str:
    if field.default is PydanticUndefined:
        return "**needed**"
    if field.default in ((), {}):
        return "empty"
    default = list(field.default) if isinstance(field.default, tuple) else field.default
    shown = f'"{default}"' if isinstance(default, str) else repr(default).replace("'", '"')
    return f"`{shown}`"


if __name__ == "__main__":
    PAGE.write_text(reference(), encoding="utf-8")
    print(PAGE)
