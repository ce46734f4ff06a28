"""Settings of hardware that a reboot forgets: applied now, and by a unit at every boot."""

from collections.abc import Generator

from pyinfra import host
from pyinfra.api import QuoteString, StringCommand

from glmstead import places
from glmstead.facts.units import UnitStates
from glmstead.operations.managed_files import ManagedFile, managed_files
from glmstead.operations.units import with_journal


def applied_at_boot(unit: str, text: str, now: bool) -> Generator[StringCommand, None, None]:
    """Commands until a oneshot unit is there, enabled, and has done its work.

    ``now`` says whether the hardware is already as the unit would make it.
    """
    yield from managed_files._inner(files=[ManagedFile(f"{places.UNITS}/{unit}.service", text)])
    state = host.get_fact(UnitStates, units=[unit])["units"][unit]
    current = state["LoadState"] == "loaded" and state["NeedDaemonReload"] == "no"
    if not current:
        yield StringCommand("systemctl daemon-reload")
    if state["UnitFileState"] != "enabled":
        yield StringCommand("systemctl enable --quiet", QuoteString(f"{unit}.service"))
    if not now:
        yield with_journal("restart", unit)
