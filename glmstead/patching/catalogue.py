"""The catalogue: one validated patch a YAML file, data only (``files/patches/<TAG>.yaml``)."""

from functools import cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from glmstead import ROOT
from glmstead.patching.model import Patch

CATALOGUE = ROOT / "files" / "patches"


class CatalogueError(Exception):
    """A patch file that cannot be used, in one line: file, key, value, fix."""


@cache
def load_catalogue(folder: Path = CATALOGUE) -> dict[str, Patch]:
    """Every patch of a folder by tag; raises CatalogueError on the first file that is wrong."""
    return {patch.tag: patch for patch in map(load_patch, sorted(folder.glob("*.yaml")))}


def load_patch(path: Path) -> Patch:
    """One patch; raises CatalogueError: file, key, value, fix."""
    try:
        patch = Patch.model_validate(_read(path))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(map(str, first["loc"])) or "patch"
        value = "" if isinstance(first["input"], dict | BaseModel) else f": {first['input']!r}"
        message = first["msg"].removeprefix("Value error, ")
        raise CatalogueError(f"{path.name}: {key}{value}: fix: {message}") from error
    if path.stem != patch.tag:
        raise CatalogueError(
            f"{path.name}: tag: {patch.tag!r}: fix: name the file {patch.tag}.yaml"
        )
    return patch


def _read(path: Path) -> Any:
    try:
        return yaml.load(path.read_text(encoding="utf-8"), _Loader)
    except OSError as error:
        raise CatalogueError(f"{path.name}: not readable: {error.strerror}") from error
    # ValueError: a date that is none, bytes that are no text
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        line = " ".join(str(error).split())
        raise CatalogueError(f"{path.name}: not YAML: {line}") from error


class _Loader(yaml.SafeLoader):
    """YAML where a key given twice is an error: the first one's edits would be lost."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [key.value for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                where = node.start_mark
                raise yaml.constructor.ConstructorError(
                    None, None, f"{key!r} is given twice", where
                )
        return super().construct_mapping(node, deep)
