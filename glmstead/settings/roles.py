"""Who is who in an inventory: the groups head, worker and gateway, and their addresses."""

from collections.abc import Iterator
from ipaddress import AddressValueError, IPv4Address

from pyinfra.api.exceptions import DeployError
from pyinfra.api.host import Host
from pyinfra.api.inventory import Inventory

from glmstead.settings.model import Cluster, Member
from glmstead.settings.problem import UNSET, Problem

ROLES = ("head", "worker", "gateway")
INVENTORY = "inventory"


def cluster_of(inventory: Inventory) -> Cluster:
    """Return the cluster an inventory declares; raises DeployError, one line a problem."""
    lines = [*_role_lines(inventory), *_address_lines(inventory)]
    if lines:
        raise DeployError("\n".join(lines))
    return Cluster(
        head=_members(inventory, "head")[0],
        workers=_members(inventory, "worker"),
        gateway=_members(inventory, "gateway")[0],
    )


def group(inventory: Inventory, name: str) -> list[Host]:
    """Return the hosts of a group, none where the inventory lacks it."""
    return list(inventory.get_group(name, default=[]))


def own_groups(host: Host) -> list[str]:
    """Return the groups of a host, without those pyinfra's connectors add."""
    return sorted(name for name in set(host.groups) if not name.startswith("@"))


def _members(inventory: Inventory, role: str) -> tuple[Member, ...]:
    return tuple(Member(h.name, h.data.get("cluster_address")) for h in group(inventory, role))


def _role_lines(inventory: Inventory) -> Iterator[str]:
    for role in ("head", "gateway"):
        names = [host.name for host in group(inventory, role)]
        if len(names) != 1:
            yield Problem(
                role,
                names,
                f"{len(names)} hosts in group {role}",
                f"put exactly one host in {role}",
            ).line(INVENTORY)
    heads, workers = group(inventory, "head"), group(inventory, "worker")
    gateways = group(inventory, "gateway")
    for host in inventory:
        if host in heads and host in workers:
            yield Problem(
                "worker", [host.name], "head and worker at once", "take it out of group worker"
            ).line(host.name)
        if host not in (*heads, *workers, *gateways):
            yield Problem(
                "groups", own_groups(host), "in no role", "put it in head or worker"
            ).line(host.name)
    if len(gateways) == 1 and len(heads) == 1 and gateways != heads:
        yield Problem(
            "gateway",
            [gateways[0].name],
            "not the head, and vLLM answers on the head's loopback only",
            f"put {heads[0].name} in gateway",
        ).line(INVENTORY)


def _address_lines(inventory: Inventory) -> Iterator[str]:
    owners: dict[str, str] = {}
    for host in inventory:
        address = host.data.get("cluster_address", UNSET)
        problem = _address_problem(
            address, allow_public=bool(host.data.get("cluster_allow_public"))
        )
        if problem is None and address in owners:
            problem = "the same address as " + owners[address]
        if problem is not None:
            yield Problem(
                "cluster_address", address, problem, "give the host's own private IPv4 address"
            ).line(host.name)
        elif isinstance(address, str):
            owners[address] = host.name


def _address_problem(address: object, *, allow_public: bool) -> str | None:
    if address is UNSET:
        return "a value is needed"
    try:
        parsed = IPv4Address(address if isinstance(address, str) else "")
    except AddressValueError:
        return "not an IPv4 address"
    if parsed.is_loopback or parsed.is_unspecified or parsed.is_multicast or parsed.is_link_local:
        return "not an address that peers can reach"
    if parsed.is_global and not allow_public:
        return "a public address, where Ray and NCCL would be open to the world"
    return None
