"""One fact of one host of an inventory, through pyinfra's API; the other hosts are left alone."""

from typing import Any

from pyinfra.api import Config, FactBase
from pyinfra.api.connect import connect_all, disconnect_all
from pyinfra.api.exceptions import PyinfraError
from pyinfra.api.facts import get_fact
from pyinfra.api.inventory import Inventory
from pyinfra.api.state import State
from pyinfra.context import ctx_config, ctx_host, ctx_inventory, ctx_state


def fact_of(inventory: Inventory, name: str, fact: type[FactBase[Any]], **question: Any) -> Any:
    """Return what a host answers; None when it cannot be reached or asked. Prints nothing."""
    host = inventory.get_host(name)
    state = State(inventory, Config(), initial_limit=[host])
    with ctx_state.use(state), ctx_inventory.use(inventory), ctx_config.use(state.config):
        try:
            connect_all(state)
            with ctx_host.use(host):
                return get_fact(state, host, fact, kwargs=question, apply_failed_hosts=False)
        except PyinfraError:
            return None
        finally:
            disconnect_all(state)
