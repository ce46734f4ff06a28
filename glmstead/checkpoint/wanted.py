"""Which files a checkpoint consists of: as given, noted before, or told by its source or a peer."""

from __future__ import annotations

import time
from collections.abc import Iterable
from fnmatch import fnmatch
from typing import Any

from glmstead.checkpoint.hashing import digests_of
from glmstead.checkpoint.hub_process import Hub, list_files
from glmstead.checkpoint.listing import STATE, CheckpointError, Entry, Folder, Listing, read_json
from glmstead.checkpoint.local import Range
from glmstead.checkpoint.peers import Peers
from glmstead.checkpoint.progress import Progress
from glmstead.checkpoint.verify import known_listing

_POLL_S = 0.5
_NONE_ASKED_FOR = "none of its files is asked for; fix: check model_files"


def wanted(
    request: dict[str, Any],
    folder: Folder,
    hub: Hub | None,
    peers: Peers,
    local: dict[str, Range],
) -> Listing:
    """Return what is wanted: as given, noted before, or told by the source or a peer."""
    if request["listing"]:
        return Listing.of(request["listing"])
    known = known_listing(folder)
    if known is not None and known.origin == request["origin"]:
        return known
    if local:
        return _of_local(request, local)
    if hub is not None and request["part"] is not None:
        try:
            return _of_hub(request, hub, folder)
        except CheckpointError:
            found = peers.listing()
            if found is None:
                raise
            return found
    return _of_peers(request, hub, folder, peers)


def _of_peers(request: dict[str, Any], hub: Hub | None, folder: Folder, peers: Peers) -> Listing:
    """Ask the peers for as long as one is finding out: a source of 755 GB takes minutes to hash."""
    while True:
        telling = peers.telling()  # before the last look, so that nothing falls between
        found = peers.listing()
        if found is not None:
            return found
        if not telling:
            break
        time.sleep(_POLL_S)
    if hub is None:
        fix = "put it on one of them, where model_directory says"
        raise CheckpointError(f"{request['origin']}: on none of the hosts; fix: {fix}")
    return _of_hub(request, hub, folder)


def _of_hub(request: dict[str, Any], hub: Hub, folder: Folder) -> Listing:
    found = list_files(hub, folder)
    files = {name: found[name] for name in needed(found, request["files"])}
    if not files:
        raise CheckpointError(f"{hub.origin}: {_NONE_ASKED_FOR}")
    return Listing.of(Listing(hub.origin, files).document())


def _of_local(request: dict[str, Any], local: dict[str, Range]) -> Listing:
    """The manifest that came along, else what the files are now: then nobody vouches for them."""
    brought = local.get(f"{STATE}/manifest.json")
    if brought is not None and brought.path.name == "manifest.json":
        try:
            return Listing(request["origin"], Listing.of(read_json(brought.path)).files)
        except CheckpointError as error:
            raise CheckpointError(f"{brought.path}: {error}") from error
    found = {name: local[name] for name in needed(local, request["files"])}
    if not found:
        raise CheckpointError(f"{request['local']}: {_NONE_ASKED_FOR}")
    progress = Progress("read source", sum(one.size for one in found.values()))
    files = {name: _entry(one, progress) for name, one in found.items()}
    progress.finish()
    return Listing.of(Listing(request["origin"], files).document())


def _entry(one: Range, progress: Progress) -> Entry:
    digests = digests_of(one.path, progress.add, one.offset, one.size)
    return Entry(one.size, sha256=digests["sha256"])


def needed(names: Iterable[str], patterns: list[str]) -> list[str]:
    """Return the names that some pattern asks for, none of our own notes among them."""
    own = (name for name in names if not name.startswith(STATE))
    return [name for name in own if any(fnmatch(name, one) for one in patterns)]
