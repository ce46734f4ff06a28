"""The cluster's interfaces: large packets, and shown to pass between all hosts."""

from collections.abc import Generator, Sequence

from pyinfra import host
from pyinfra.api import StringCommand, operation

from glmstead.facts.links import Mtus
from glmstead.facts.path_mtu import PathMtu
from glmstead.operations.boot_units import applied_at_boot
from glmstead.operations.refusal import refuse
from glmstead.render import render
from glmstead.settings import Cluster, Settings

Commands = Generator[StringCommand, None, None]
UNIT = "glmstead-mtu"


@operation()
def large_packets(interfaces: Sequence[str], mtu: int) -> Commands:
    """
    Ensure the MTU of interfaces, now and after a reboot.

    + interfaces: names on this host
    + mtu: bytes
    """
    text = render(f"systemd/{UNIT}.service.j2", interfaces=interfaces, mtu=mtu)
    found = host.get_fact(Mtus)
    wrong = [name for name in interfaces if found.get(name) != mtu]
    yield from applied_at_boot(UNIT, text, now=not wrong)


@operation()
def passing(settings: Settings, cluster: Cluster, mtu: int) -> Commands:
    """
    Refuse unless packets of this size reach every peer whole.

    + settings: of this host
    + cluster: all hosts of the inventory
    + mtu: bytes
    """
    peers = [one.address for one in cluster.members if one.name != host.name]
    found = host.get_fact(PathMtu, peers=peers, interface=settings.cluster.interface, mtu=mtu)
    lost = [f"{peer} ({why})" for peer, why in found.items() if why]
    if lost:
        yield refuse(
            f"packets of {mtu} bytes do not reach {', '.join(lost)}: raise the MTU of the network "
            "between the hosts (of the VPC, the switch), or lower cluster_mtu"
        )
    else:
        host.noop(f"{mtu} bytes pass to every peer")
