"""Makes a folder hold a checkpoint, whole and verified, from the sources a request names.

A run that was killed at any point is finished by the next: what is whole and verified is kept, a
part is resumed, and one run at a time holds the folder's lock.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

from glmstead.checkpoint.edits import CONFIG, QUANT, correct
from glmstead.checkpoint.hashing import DigestCache
from glmstead.checkpoint.hub_process import Hub
from glmstead.checkpoint.hub_source import HubSource
from glmstead.checkpoint.listing import (
    STATE,
    CheckpointError,
    Folder,
    Listing,
    write_json,
)
from glmstead.checkpoint.local import ranges
from glmstead.checkpoint.lock import locked
from glmstead.checkpoint.peers import Peers
from glmstead.checkpoint.progress import amount
from glmstead.checkpoint.sources import Sources, written
from glmstead.checkpoint.survey import Survey, tidy
from glmstead.checkpoint.transfer import Transfer
from glmstead.checkpoint.verify import complete, verified
from glmstead.checkpoint.wanted import wanted


def place(request: dict[str, Any]) -> Listing:
    """Do what a request says (docs/model.md lists its keys); raises CheckpointError."""
    folder = Folder(Path(request["root"]))
    with locked(folder) as handle:
        hub = Hub(**request["hub"]) if request["hub"] else None
        peers = Peers(request["peers"], request["origin"], request["stall_s"])
        local = ranges(Path(request["local"])) if request["local"] else {}
        tells = bool(local) or (hub is not None and request["part"] is not None)
        telling = request["origin"] if tells else ""
        write_json(folder.busy, {"names": [], "telling": telling}, sync=False)
        listing = wanted(request, folder, hub, peers, local)
        write_json(folder.listing, listing.document())
        found, cache = verified(folder, listing, request["deep"])
        for line in found.lines():
            print(line, flush=True)
        tidy(folder, found, cache)
        _drop_foreign_parts(folder, listing, found)
        _check_space(folder, listing, found, request["reserve_bytes"])
        if found.missing:
            folder.manifest.unlink(missing_ok=True)  # until all is there again
            source = HubSource(hub, folder, (handle,)) if hub else None
            mine = _mine(listing, request["part"])
            sources = Sources(source, local, peers, mine, request["streams"])
            Transfer(folder, listing, cache, sources).run(found.missing)
        peers.stop()
        return _finish(request, folder, listing, cache)


def _finish(
    request: dict[str, Any], folder: Folder, listing: Listing, cache: DigestCache
) -> Listing:
    """Correct if asked, write the manifest, and drop what is not needed any more."""
    if request["correct"]:
        for line in correct(folder):
            print(line, flush=True)
        cache.fill(name for name in (CONFIG, QUANT) if name in listing.files)
    copy = Path(request["copy"]) if request["copy"] else None
    manifest = complete(folder, listing, cache, copy)
    for leftover in ("parts", "hub"):
        shutil.rmtree(folder.root / STATE / leftover, ignore_errors=True)
    folder.busy.unlink(missing_ok=True)
    return manifest


def _mine(listing: Listing, part: list[int] | None) -> frozenset[str]:
    """Return every n-th file of the listing, the i-th of n hosts' share; none without a share."""
    if part is None:
        return frozenset()
    index, count = part
    names = sorted(listing.files, key=lambda name: (-listing.files[name].size, name))
    return frozenset(names[index::count])


def _drop_foreign_parts(folder: Folder, listing: Listing, found: Survey) -> None:
    needed = {folder.part(listing.files[name]).name for name in found.missing}
    parts = folder.root / STATE / "parts"
    parts.mkdir(parents=True, exist_ok=True)
    for part in parts.iterdir():
        if part.name not in needed:
            part.unlink()


def _check_space(folder: Folder, listing: Listing, found: Survey, reserve: int) -> None:
    """Refuse before the first byte when the disk cannot hold what is missing and the reserve."""
    entries = [listing.files[name] for name in found.missing]
    lacking = sum(entry.size - written(folder.part(entry)) for entry in entries)
    if lacking <= 0:
        return
    if _free(folder) < lacking + reserve:
        for name in found.bad:  # kept only until replaced, and here that is too long
            (folder.aside / name).unlink(missing_ok=True)
    if _free(folder) < lacking + reserve:
        kept = f", remove {folder.aside}" if folder.aside.exists() else ""
        raise CheckpointError(
            f"{folder.root}: {amount(lacking)} to fetch and {amount(reserve)} reserve, "
            f"{amount(_free(folder))} free; fix: free space{kept}, or set model_root"
        )


def _free(folder: Folder) -> int:
    status = os.statvfs(folder.root)
    return status.f_bavail * status.f_frsize


def request_of(text: str) -> dict[str, Any]:
    """Return a request with what it leaves out."""
    nothing: dict[str, Any] = {
        "copy": None,
        "correct": False,
        "deep": False,
        "files": ["*"],
        "hub": None,
        "listing": None,
        "local": None,
        "part": [0, 1],
        "peers": [],
        "reserve_bytes": 0,
        "stall_s": 60,
        "streams": 8,
    }
    return {**nothing, **json.loads(text)}
