"""Keys of host data that belong to pyinfra: its connectors and its global arguments.

pyinfra ignores a misspelt connector key and does not check the type of a global argument in data
(``_sudo = "no"`` runs, as a true string), so both are checked here.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import get_type_hints

from pyinfra.api.arguments import AllArguments
from pyinfra.api.connectors import get_all_connectors
from typeguard import TypeCheckError, check_type

from glmstead.settings.problem import Problem


@cache
def connector_keys() -> frozenset[str]:
    """Return the data keys of every connector (``ssh_key``, ``docker_...``)."""
    return frozenset(key for one in get_all_connectors().values() for key in one.data_meta)


@cache
def _arguments() -> dict[str, object]:
    return {key: hint for key, hint in get_type_hints(AllArguments).items() if key.startswith("_")}


def foreign_keys() -> frozenset[str]:
    """Return every key pyinfra itself understands in data."""
    return connector_keys() | frozenset(_arguments())


def argument_problems(data: Mapping[str, object]) -> Iterator[Problem]:
    """Yield a problem for each global argument of the wrong type."""
    for key, hint in _arguments().items():
        if key not in data:
            continue
        try:
            check_type(data[key], hint)
        except TypeCheckError:
            name = getattr(hint, "__name__", str(hint))
            yield Problem(key, data[key], f"must be {name}", f"give pyinfra's {key} a {name}")
