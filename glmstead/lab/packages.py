"""Debian packages: lent to fresh hosts and taken back, so that only a first lab downloads them.

apt checks every lent file against its signed index before using it, as if it came from a mirror.
"""

import shutil
from collections.abc import Iterable
from pathlib import Path

from glmstead.lab.config import LabConfig

ARCHIVES = Path("var/cache/apt/archives")


def lend(config: LabConfig, root: Path) -> None:
    """Copy the cached packages to where a host's apt looks before it downloads."""
    for deb in config.debs.glob("*.deb"):
        shutil.copy2(deb, root / ARCHIVES / deb.name)


def take_back(config: LabConfig, hosts: Iterable[str]) -> None:
    """Move packages that hosts downloaded to the cache; the hosts are off and about to go."""
    config.debs.mkdir(parents=True, exist_ok=True)
    for host in hosts:
        for deb in (config.root(host) / ARCHIVES).glob("*.deb"):
            kept = config.debs / deb.name
            if not kept.exists():
                new = kept.with_suffix(".new")
                shutil.move(deb, new)
                new.replace(kept)
