"""The network between the hosts."""

from pyinfra.api import deploy

from glmstead.operations import network
from glmstead.settings import Cluster, Settings


@deploy("Network")
def enlarge_packets(settings: Settings, cluster: Cluster) -> None:
    mtu = settings.cluster.mtu
    if mtu is None:
        return
    interfaces = [settings.cluster.interface, *settings.nccl.socket_interfaces]
    network.large_packets(name=f"MTU {mtu}", interfaces=list(dict.fromkeys(interfaces)), mtu=mtu)
    network.passing(
        name=f"{mtu} bytes pass between all hosts", settings=settings, cluster=cluster, mtu=mtu
    )
