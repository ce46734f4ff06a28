"""Conditions on an environment's files, besides the anchors: will the edit have an effect here?

Sent to hosts: standard library only, Python 3.10 and newer.
"""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from glmstead.patching.source import ENCODING


class Environment(NamedTuple):
    """What a patch is judged against: one package of one Python environment."""

    python: str
    distribution: str | None = None
    release: str | None = None
    stock: frozenset[str] = frozenset()
    """Paths whose text, without our edits, is the wheel's own."""


def holds(
    test: dict[str, Any], environment: Environment, read: Callable[[str], bytes | None]
) -> bool:
    """Whether one condition is true; ``read`` gives a file as it is without the patch."""
    if "installed" in test:
        return bool(test["installed"]) == (environment.release is not None)
    if environment.release is None:
        return False
    if "build" in test:
        return _build_matches(test["build"], environment)
    if "not_build" in test:
        return not _build_matches(test["not_build"], environment)
    data = read(test["file"])
    if "exists" in test:
        return (data is not None) is test["exists"]
    if data is None:
        return False
    found = re.search(test.get("has") or test["lacks"], data.decode(ENCODING), re.MULTILINE)
    return bool(found) is ("has" in test)


def _build_matches(pattern: str, environment: Environment) -> bool:
    return bool(re.search(pattern, f"{environment.distribution} {environment.release}"))
