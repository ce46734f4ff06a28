"""The verdicts of every host of an inventory at once, through pyinfra's API."""

from collections.abc import Mapping
from typing import Any

from pyinfra.api import Config
from pyinfra.api.connect import connect_all, disconnect_all
from pyinfra.api.exceptions import PyinfraError
from pyinfra.api.facts import get_fact
from pyinfra.api.host import Host
from pyinfra.api.inventory import Inventory
from pyinfra.api.state import State
from pyinfra.context import ctx_config, ctx_host, ctx_inventory, ctx_state

from glmstead.facts.patches import PatchVerdicts

Rows = list[dict[str, Any]]


def verdicts(inventory: Inventory, pythons: Mapping[str, str]) -> dict[str, Rows]:
    """Rows by host, for the hosts in ``pythons``; one that gave no answer is left out."""
    state = State(inventory, Config())
    with ctx_state.use(state), ctx_inventory.use(inventory), ctx_config.use(state.config):
        connect_all(state)
        try:
            asked = {
                host.name: state.pool.spawn(_ask, state, host, pythons[host.name])
                for host in state.inventory.iter_activated_hosts()
                if host.name in pythons
            }
            answers = {name: greenlet.get() for name, greenlet in asked.items()}
        finally:
            disconnect_all(state)
    return {name: rows for name, rows in answers.items() if rows}


def _ask(state: State, host: Host, python: str) -> Rows | None:
    try:
        with ctx_host.use(host):
            rows: Rows | None = get_fact(
                state, host, PatchVerdicts, kwargs={"python": python}, apply_failed_hosts=False
            )
    except PyinfraError:
        return None
    return rows
