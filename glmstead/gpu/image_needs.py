"""What an image asks of the driver, as its NVIDIA_REQUIRE_CUDA says."""

import operator
import re
from collections.abc import Callable

from packaging.version import InvalidVersion, Version

_OPERATORS: dict[str, Callable[[Version, Version], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "=": operator.eq,
}
_CONDITION = re.compile(r"(\w+)(>=|<=|=|>|<)(.+)")


def is_met(requirement: str, cuda: str | None, driver: str) -> bool:
    """Whether a driver (``580.159.03``) of a CUDA release (``13.0``) is one the image runs on.

    Blanks stand between alternatives, commas between what one of them needs together. What is
    not known here (brand, arch) is taken as met: the engine's own checks ask for the board.
    """
    known = {"cuda": cuda, "driver": driver}
    alternatives = [alternative.split(",") for alternative in requirement.split()]
    return not alternatives or any(
        all(_holds(condition, known) for condition in alternative) for alternative in alternatives
    )


def _holds(condition: str, known: dict[str, str | None]) -> bool:
    found = _CONDITION.fullmatch(condition)
    value = known.get(found[1]) if found else None
    if found is None or value is None:
        return True
    try:
        wanted = Version(found[3])
    except InvalidVersion:
        return True
    # driver<581 means the branch: only as many parts count as are given
    parts = ".".join(value.split(".")[: len(found[3].split("."))])
    return _OPERATORS[found[2]](Version(parts), wanted)
