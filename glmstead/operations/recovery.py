"""Steps of a clean restart: stopped in order, what is left is ended, the log says what it must."""

from collections.abc import Generator
from typing import Any

import click
from pyinfra import host
from pyinfra.api import FunctionCommand, Host, QuoteString, State, StringCommand, operation

from glmstead import places
from glmstead.answers.log_contract import judge
from glmstead.facts.endpoint import EndpointState
from glmstead.operations.refusal import refuse
from glmstead.operations.secrets import rights
from glmstead.probes import probe_command
from glmstead.serving import FREE_MIB
from glmstead.settings import Settings

Commands = Generator[StringCommand | FunctionCommand, None, None]
KEPT = (places.GATEWAY, places.GATE, places.WATCH, places.PROMETHEUS, places.NODE_EXPORTER)
BOUND_S = 120
SMI_S = 30  # nvidia-smi has for an answer


@operation()
def stopped(unit: str, here: bool) -> Commands:
    """
    Stop a unit, whatever state it is in; its own TimeoutStopSec is the bound.

    + unit: name without ``.service``
    + here: whether this host may run the unit
    """
    service = QuoteString(f"{unit}.service")
    if not here:
        host.noop("not on this host")
        return
    yield StringCommand("systemctl stop", service, "&& systemctl reset-failed", service, "|| true")


@operation()
def released(user: str) -> Commands:
    """
    End what is left of the engine on this host, and wait until its GPUs are free.

    + user: service user, whose processes are ours
    """
    request = {"user": user, "kept_units": KEPT, "bound_s": BOUND_S, "free_mib": FREE_MIB}
    request |= {"seconds": SMI_S}
    # Its words are for people: who was ended, who holds a GPU and is not ours.
    yield FunctionCommand(_aloud, (probe_command("release", request), rights()), {})


def _aloud(state: State, host: Host, command: StringCommand, sudo: dict[str, Any]) -> bool:
    """Run a command and show what it says; False fails the operation."""
    done, output = host.run_shell_command(command, print_output=False, **sudo)
    for line in output.combined_lines:
        click.echo(f"    {host.print_prefix}{line.line}")
    return bool(done)


@operation()
def log_as_declared(settings: Settings, here: bool) -> Commands:
    """
    Fail this host when the journal of this start lacks a line it must hold, or holds a wrong one.

    + settings: of this host
    + here: whether this host runs the server
    """
    if not here:
        host.noop("not on this host")
        return
    journal = host.get_fact(EndpointState, settings=settings)["journal"]
    wrong = [f"{one.what}: {one.evidence}" for one in judge(journal, settings) if not one.ok]
    if wrong:
        yield refuse(f"{len(wrong)} lines of the log are wrong: {'; '.join(wrong)}")
    else:
        host.noop("the log says what it must")
