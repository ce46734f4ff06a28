"""The operation that refuses an unfit host."""

from collections.abc import Generator
from typing import Any

from pyinfra import host
from pyinfra.api import Host, StringCommand, operation

from glmstead.facts.host_state import HostState
from glmstead.operations.gpu_host import gpu_problems
from glmstead.operations.refusal import refuse
from glmstead.operations.units import peer
from glmstead.preflight import bound_ports, clock_difference, problems
from glmstead.settings import Cluster, Settings


def state_of(target: Host, settings: Settings, cluster: Cluster) -> dict[str, Any]:
    """Probe one host: one round trip, and at most 3 s for each peer that does not answer."""
    peers = [
        [member.address, settings.cluster.ssh_port]
        for member in cluster.members
        if member.name != target.name
    ]
    found: dict[str, Any] = target.get_fact(
        HostState,
        python=settings.engine.python,
        environment=settings.engine.root,
        paths=[settings.model.path],
        peers=peers,
    )
    return found


@operation()
def fit_host(settings: Settings, cluster: Cluster) -> Generator[StringCommand, None, None]:
    """
    Refuse this host, with one line a reason, when it cannot serve as declared.

    + settings: of this host
    + cluster: all hosts of the inventory
    """
    state = state_of(host, settings, cluster)
    lines = problems(state, settings, bound_ports(settings, host.groups))
    head = cluster.head.name
    if host.name != head:
        offsets = {
            host.name: state["clock_offset"],
            head: state_of(peer(head), settings, cluster)["clock_offset"],
        }
        lines += filter(None, [clock_difference(offsets, settings.cluster.clock_skew_s)])
    lines += gpu_problems(host, settings, cluster)
    if lines:
        yield refuse("; ".join(lines))
    else:
        host.noop("fit")
