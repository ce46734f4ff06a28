"""Whether the lab's network gets in the way of another; works on what ``ip -j`` and nft say."""

from collections.abc import Iterable
from ipaddress import IPv4Network
from typing import Any

from glmstead.lab.config import LabConfig

Record = dict[str, Any]


def link_alias(config: LabConfig) -> str:
    """Mark on the bridge that tells ours from one that only has the same name."""
    return f"glmstead lab {config.state}"


def subnet_conflict(routes: Iterable[Record], config: LabConfig) -> str | None:
    """The route of another link that overlaps the lab's subnet, as text, or None."""
    for route in routes:
        if route["dst"] == "default" or route.get("dev") == config.bridge:
            continue
        if IPv4Network(route["dst"]).overlaps(config.subnet):
            return f"{route['dst']} on {route.get('dev', route.get('type', 'no link'))}"
    return None


def foreign_bridge(links: Iterable[Record], config: LabConfig) -> bool:
    """True if a link has our bridge's name but not our mark."""
    return any(
        link["ifname"] == config.bridge and link.get("ifalias") != link_alias(config)
        for link in links
    )


def default_mtu(routes: Iterable[Record], links: Iterable[Record]) -> int:
    """MTU of the interface of the default route, bytes; Ethernet's 1500 without one."""
    device = next((route.get("dev") for route in routes if route["dst"] == "default"), None)
    return next((int(link["mtu"]) for link in links if link["ifname"] == device), 1500)


def forward_dropped(rules: str, config: LabConfig) -> bool:
    """True if ``iptables -S FORWARD`` drops what no rule lets through, as Docker sets it up."""
    return "-P FORWARD DROP" in rules and config.bridge not in rules
