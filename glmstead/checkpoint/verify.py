"""Verify a folder against its manifest, write the manifest, and the copy that a unit watches."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from glmstead.checkpoint.edits import recorded
from glmstead.checkpoint.hashing import DigestCache
from glmstead.checkpoint.listing import (
    CheckpointError,
    Entry,
    Folder,
    Listing,
    read_json,
    write_atomically,
    write_json,
)
from glmstead.checkpoint.progress import Progress
from glmstead.checkpoint.survey import Survey, survey


def known_listing(folder: Folder) -> Listing | None:
    """Return what the folder should hold: the manifest, or the listing of an unfinished fetch.

    A note that is damaged counts as none: it is asked for again.
    """
    for path in (folder.manifest, folder.listing):
        with suppress(CheckpointError):
            return Listing.of(read_json(path))
    return None


def verified(folder: Folder, listing: Listing, deep: bool = False) -> tuple[Survey, DigestCache]:
    """Survey with progress over what has to be read; ``deep`` reads everything again."""
    cache = DigestCache(folder, forget=deep)
    unknown = [name for name in listing.files if cache.get(name) is None]
    sizes = [(folder.root / name).stat() for name in unknown if (folder.root / name).is_file()]
    progress = Progress("verify", sum(status.st_size for status in sizes))
    found = survey(folder, listing, cache, progress.add)
    progress.finish()
    return found, cache


def complete(folder: Folder, listing: Listing, cache: DigestCache, copy: Path | None) -> Listing:
    """Write the manifest: every digest a sha256; raises CheckpointError where one is unknown.

    ``copy`` gets lines as ``sha256sum --check`` reads them, of what lies there, edits included.
    """
    files, lines = {}, []
    for name, entry in sorted(listing.files.items()):
        digests = cache.get(name)
        if digests is None:
            raise CheckpointError(f"{folder.root / name}: changed while it was verified")
        own = entry.sha256 or (digests["sha256"] if entry.matches(digests) else "")
        files[name] = Entry(entry.size, own or original_digest(folder, name), entry.git)
        lines.append(f"{digests['sha256']}  {folder.root / name}\n")
    manifest = Listing(listing.origin, files)
    if read_json(folder.manifest) != manifest.document():
        write_json(folder.manifest, manifest.document())
    if copy is not None and (not copy.exists() or copy.read_text() != "".join(lines)):
        write_atomically(copy, "".join(lines))
    return manifest


def original_digest(folder: Folder, name: str) -> str:
    """sha256 of a corrected file before its correction."""
    record = recorded(folder, name)
    if "original" not in record:
        raise CheckpointError(f"{folder.root / name}: not as listed; fix: run the deploy again")
    return str(record["original"])
