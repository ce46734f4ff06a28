"""systemd services that run what lies on disk: started, restarted once when stale, never twice."""

from collections.abc import Generator, Sequence
from typing import Any

from pyinfra import host
from pyinfra.api import Host, QuoteString, StringCommand, operation

from glmstead import places
from glmstead.facts.units import UnitStates

Commands = Generator[StringCommand, None, None]


def is_current(state: dict[str, Any]) -> bool:
    """Whether a unit runs, is enabled, and was started with the inputs that now lie on disk."""
    return (
        state["ActiveState"] == "active"
        and state["UnitFileState"] == "enabled"
        and state["NeedDaemonReload"] == "no"
        and not state["stale"]
    )


def with_journal(verb: str, unit: str) -> StringCommand:
    """``systemctl VERB UNIT``; on failure the unit's last journal lines become the error."""
    program = f"/usr/bin/python3 {places.LIBEXEC}/run_unit.py"
    return StringCommand(program, verb, QuoteString(f"{unit}.service"))


def convergence(unit: str, state: dict[str, Any], renewed: bool) -> Commands:
    """Commands from what a unit is to running, enabled and current."""
    service = QuoteString(f"{unit}.service")
    if state["NeedDaemonReload"] == "yes" or state["LoadState"] == "not-found":
        yield StringCommand("systemctl daemon-reload")
    if state["UnitFileState"] != "enabled":
        yield StringCommand("systemctl enable", service)
    if state["ActiveState"] == "failed":
        # A start limit blocks a manual start too: opensvc/multipath-tools#100
        yield StringCommand("systemctl reset-failed", service)
    if state["ActiveState"] != "active":
        # Failed starts that were counted before a person came, and sleep: attempts.py
        marks = [QuoteString(f"/run/glmstead/{unit}/{name}") for name in ("failed", "asleep")]
        yield StringCommand("rm -f", *marks)
    # A start that goes on after its deploy was killed would end with the inputs it began with.
    began = state["ActiveState"] in ("active", "activating")
    if (began and state["stale"]) or (state["ActiveState"] == "active" and renewed):
        yield with_journal("restart", unit)
    elif state["ActiveState"] != "active":
        yield with_journal("start", unit)


@operation()
def running(unit: str, here: bool, same_ray_session_as: str | None = None) -> Commands:
    """
    Ensure a unit is enabled and runs what lies on disk.

    Call it on every host: pyinfra orders two operations only where some host has both, so one
    that is missing on a host is no barrier for it.

    + unit: name without ``.service``
    + here: whether this host runs the unit
    + same_ray_session_as: host whose Ray session this one must share, else it is restarted
    """
    if not here:
        host.noop("not on this host")
        return
    found = host.get_fact(UnitStates, units=[unit])
    state = found["units"][unit]
    renewed = False
    if same_ray_session_as is not None:
        head = peer(same_ray_session_as).get_fact(UnitStates, units=[unit])
        renewed = head["ray_session"] != found["ray_session"]
    if is_current(state) and not renewed:
        host.noop(f"{unit} runs what lies on disk")
    else:
        yield from convergence(unit, state, renewed)


@operation()
def stopped_before_its_ranks(unit: str, here: bool, ranks: dict[str, str]) -> Commands:
    """
    Stop a multi-host engine when any of its ranks is about to be restarted.

    An engine dies with any rank; stopped first, it ends cleanly and starts once.

    + unit: the engine
    + here: whether this host runs it
    + ranks: host name to the unit of that host's Ray node
    """
    if not here:
        host.noop("not on this host")
        return
    engine = host.get_fact(UnitStates, units=[unit])["units"][unit]
    stale = [name for name, rank in ranks.items() if not is_current(rank_state(name, rank))]
    if engine["ActiveState"] in ("inactive", "failed") or not stale:
        host.noop("every rank runs what lies on disk")
    else:
        yield StringCommand("systemctl stop", QuoteString(f"{unit}.service"))


def made_stale(units: Sequence[str]) -> Commands:
    """Forget what running units were started with, before what they import changes."""
    stamps = [QuoteString(f"/run/glmstead/{unit}.started") for unit in units]
    if stamps:
        yield StringCommand("rm -f", *stamps)


def rank_state(name: str, unit: str) -> dict[str, Any]:
    """State of one rank's Ray unit, read on its own host."""
    state: dict[str, Any] = peer(name).get_fact(UnitStates, units=[unit])["units"][unit]
    return state


def peer(name: str) -> Host:
    """Another host of this inventory."""
    return host.state.inventory.get_host(name)
