"""Debian packages, with the package lists refreshed only where something is missing.

apt.packages(update=True) refreshes, and reports a change, whenever its cache time has passed.
"""

from collections.abc import Generator, Sequence

from pyinfra import host
from pyinfra.api import StringCommand, operation
from pyinfra.facts.deb import DebPackages

from glmstead.probes import probe_command

_LOCK_WAIT_S = 600  # a new VM upgrades itself for minutes


@operation()
def installed(packages: Sequence[str]) -> Generator[StringCommand, None, None]:
    """
    Ensure Debian packages are installed, without recommended ones; waits for apt's locks.

    + packages: names, without versions
    """
    found = host.get_fact(DebPackages) or {}
    missing = [name for name in packages if name not in found]
    if not missing:
        host.noop(f"all {len(packages)} packages are installed")
        return
    yield apt("update")
    yield apt("install", "--no-install-recommends", *missing)


def apt(*words: str, wait_s: float = _LOCK_WAIT_S, driver: bool = False) -> StringCommand:
    """One apt-get that waits for apt's locks and says in one line why it failed.

    + driver: the settings ``driver_*`` are what mends it
    """
    request = {"words": list(words), "wait_s": wait_s, "driver": driver}
    return probe_command("apt_step", request)
