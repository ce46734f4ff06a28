"""Prometheus' programs from Debian, whose own units would listen on every address."""

from collections.abc import Generator, Sequence

from pyinfra import host
from pyinfra.api import QuoteString, StringCommand, operation
from pyinfra.facts.deb import DebPackages

from glmstead.facts.files import FileStates
from glmstead.facts.units import UnitStates
from glmstead.metrics import Part
from glmstead.operations.debian import apt, installed

Commands = Generator[StringCommand, None, None]


@operation()
def programs(parts: Sequence[Part]) -> Commands:
    """
    Ensure the programs are installed, without a start of Debian's own units.

    A unit that is masked says that its package came from here; one that a site installed and runs
    is left as it is.

    + parts: what this host has
    """
    found = host.get_fact(DebPackages) or {}
    missing = [part.package for part in parts if part.package not in found]
    if not missing:
        host.noop(f"all {len(parts)} programs are installed")
        return
    names = [QuoteString(f"{package}.service") for package in missing]
    yield StringCommand("systemctl mask --quiet", *names)
    yield from installed._inner(packages=missing)


@operation()
def removed(parts: Sequence[Part]) -> Commands:
    """
    Stop and remove parts and the packages that came from here; the database stays.

    + parts: what this host does not have
    """
    units = [name for part in parts for name in (part.unit, part.package)]
    states = host.get_fact(UnitStates, units=units)["units"] if parts else {}
    files = host.get_fact(FileStates, paths=[path for part in parts for path in part.paths])
    left = [path for path, state in files.items() if state is not None]
    ours = [part.unit for part in parts if states[part.unit]["LoadState"] == "loaded"]
    masked = [part.package for part in parts if states[part.package]["UnitFileState"] == "masked"]
    if not (left or ours or masked):
        host.noop("nothing to remove")
        return
    if ours:
        names = [QuoteString(f"{unit}.service") for unit in ours]
        yield StringCommand("systemctl disable --quiet --now", *names)
    if left:
        yield StringCommand("rm -rf", *(QuoteString(path) for path in left))
        yield StringCommand("systemctl daemon-reload")
    if masked:
        yield apt("purge", *masked)
        names = [QuoteString(f"{package}.service") for package in masked]
        yield StringCommand("systemctl unmask --quiet", *names)
