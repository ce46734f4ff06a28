"""Where missing files may come from, and which of them a host takes from the hub itself."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from glmstead.checkpoint.hashing import stat_of
from glmstead.checkpoint.hub_source import HubSource
from glmstead.checkpoint.listing import Listing, xet_part
from glmstead.checkpoint.local import Range
from glmstead.checkpoint.peers import Peers


@dataclass(frozen=True)
class Sources:
    """Where files may come from; ``mine`` are those this host shall fetch from the hub."""

    hub: HubSource | None
    local: dict[str, Range]
    peers: Peers
    mine: frozenset[str]
    streams: int


def next_for_hub(sources: Sources, listing: Listing, pending: list[str]) -> str | None:
    """Return the file to ask the hub for next: of this host's share, then of what lies idle."""
    peers = sources.peers
    taken = peers.busy()
    idle = [
        name for name in pending if name not in taken and not peers.holders(listing.files[name].key)
    ]
    mine = [name for name in idle if name in sources.mine]
    if mine:
        return mine[0]
    if idle and (sources.mine or not peers.working()):
        # its owner goes from the front: take one from behind, and another than the others do
        return random.choice(idle[len(idle) // 2 :])
    return None


def written(part: Path) -> int:
    """Return bytes of a part; Xet writes into one of its own, in no order, so blocks count."""
    stat, count = stat_of(part), 0
    with suppress(OSError):
        count = xet_part(part).stat().st_blocks * 512
    return count + (stat[0] if stat else 0)


def copier(peers: Peers, address: str, listing: Listing, name: str) -> Callable[[Path], None]:
    """Return what brings one file from one peer into a part."""
    return lambda part: peers.copy(address, listing.files[name], part)
