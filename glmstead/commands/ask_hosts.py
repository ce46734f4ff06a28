"""One question to every host of an inventory at once, through pyinfra's API."""

import logging
from typing import Any

from pyinfra.api import Config, FactBase
from pyinfra.api.connect import connect_all, disconnect_all
from pyinfra.api.exceptions import PyinfraError
from pyinfra.api.facts import get_fact
from pyinfra.api.inventory import Inventory
from pyinfra.api.state import State
from pyinfra.context import ctx_config, ctx_host, ctx_inventory, ctx_state

from glmstead.facts.status import HostStatus

MOST_S = 120  # a probe is bounded by itself; its connection is not


def answers(
    inventory: Inventory,
    questions: dict[str, dict[str, Any]],
    fact: type[FactBase[Any]] = HostStatus,
) -> dict[str, Any]:
    """Return host -> answer, without the hosts that could not be reached or asked."""
    # It writes a traceback for every host that does not talk SSH in time.
    logging.getLogger("paramiko").setLevel(logging.CRITICAL)
    state = State(inventory, Config())
    found: dict[str, Any] = {}
    with ctx_state.use(state), ctx_inventory.use(inventory), ctx_config.use(state.config):
        try:
            connect_all(state)
            asked = {
                host: state.pool.spawn(_ask, state, host, fact, questions[host.name])
                for host in state.inventory.iter_activated_hosts()
            }
            state.pool.join(timeout=MOST_S)  # a host that lost power says nothing at all
            for host, greenlet in asked.items():
                answer = greenlet.get() if greenlet.ready() else None
                if answer is not None:
                    found[host.name] = answer
        except PyinfraError:  # no host at all could be reached
            return {}
        finally:
            disconnect_all(state)
    return found


def _ask(state: State, host: Any, fact: type[FactBase[Any]], question: dict[str, Any]) -> Any:
    try:
        with ctx_host.use(host):
            return get_fact(state, host, fact, kwargs=question, apply_failed_hosts=False)
    except PyinfraError:
        return None
