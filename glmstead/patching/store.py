"""Stock texts kept beside an environment, by hash: what proves that a patched file is our work.

With them a text that an older release of this project wrote is replaced, not refused as foreign.

Sent to hosts: standard library only, Python 3.10 and newer.
"""

import hashlib
import json
from pathlib import Path
from typing import NamedTuple

from glmstead.patching.writer import replace


class Origin(NamedTuple):
    """Where a patched text comes from: the stock text, and the tags applied to it."""

    stock: bytes
    tags: frozenset[str]


class Store(NamedTuple):
    """A folder of stock texts (``stock/<sha256>``) and of what was made of them (``made/<sha256>``)."""

    root: Path

    def keep(self, stock: bytes, made: bytes, tags: list[str]) -> None:
        """Remember, before ``made`` is written anywhere, that it is ``stock`` with ``tags``."""
        origin = {"stock": digest(stock), "tags": sorted(tags)}
        self._put("stock", digest(stock), stock)
        self._put("made", digest(made), json.dumps(origin).encode())

    def origin_of(self, made: bytes) -> Origin | None:
        """What a text was made of; None when it is not our work, or the store is damaged."""
        try:
            origin = json.loads((self.root / "made" / digest(made)).read_bytes())
            stock = (self.root / "stock" / origin["stock"]).read_bytes()
            tags = frozenset(origin["tags"])
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return Origin(stock, tags) if digest(stock) == origin["stock"] else None

    def _put(self, kind: str, name: str, data: bytes) -> None:
        path = self.root / kind / name
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            replace(path, data)


def digest(data: bytes) -> str:
    """sha256 in hex."""
    return hashlib.sha256(data).hexdigest()
