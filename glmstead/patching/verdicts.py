"""The nine verdicts, and what they mean for a deploy.

Sent to hosts: standard library only, Python 3.10 and newer.
"""

from typing import NamedTuple

APPLIED, PENDING, HALF, DRIFTED = "applied", "pending", "half-applied", "drifted"
FIXED, NOT_NEEDED = "fixed upstream", "not needed"
INERT, UNSAFE, UNKNOWN = "inert", "unsafe", "unknown"

AS_DECLARED = (APPLIED, FIXED, NOT_NEEDED)
REINSTALL = "reinstall the wheel, then apply again"


class Finding(NamedTuple):
    """The verdict of one patch; ``repairable``: a run that was cut short, safe to finish."""

    verdict: str
    reason: str
    repairable: bool = False


def blocks(verdict: str, repairable: bool) -> bool:
    """Whether this verdict of a needed patch stops a deploy."""
    return verdict not in (*AS_DECLARED, PENDING) and not repairable


def left_to_do(verdict: str, repairable: bool) -> bool:
    """Whether applying would change something."""
    return verdict == PENDING or repairable
