"""A checkpoint of this machine, sent to a host file by file into parts named by their content."""

import tarfile
from collections.abc import Generator
from functools import cache
from pathlib import Path
from typing import IO, Any

from pyinfra.api import FileUploadCommand, QuoteString, StringCommand

from glmstead import ROOT
from glmstead.checkpoint.hashing import digests_of
from glmstead.checkpoint.listing import Entry, Folder, Listing
from glmstead.checkpoint.local import Range, ranges
from glmstead.checkpoint.wanted import needed
from glmstead.settings.sections.serving import ModelSettings

Commands = Generator[StringCommand | FileUploadCommand, None, None]


@cache
def local_listing(model: ModelSettings) -> Listing:
    """Return what the folder or tar on this machine holds, of the files that are asked for."""
    found = ranges(ROOT / str(model.directory))
    names = needed(found, list(model.files))
    return Listing(
        f"controller {model.directory}",
        {
            name: Entry(
                found[name].size,
                digests_of(found[name].path, lambda _: None, found[name].offset, found[name].size)[
                    "sha256"
                ],
            )
            for name in names
        },
    )


def uploads(model: ModelSettings, listing: Listing, state: dict[str, Any]) -> Commands:
    """Send what the host does not hold into parts, named by their content."""
    folder, source = Folder(Path(model.path)), ROOT / str(model.directory)
    lacking = {
        name: entry
        for name, entry in listing.files.items()
        if state["verified"].get(name) != entry.sha256
    }
    if lacking:
        parent = folder.part(next(iter(lacking.values()))).parent
        yield StringCommand("mkdir -p", QuoteString(str(parent)))
    found = ranges(source) if lacking else {}
    for name, entry in lacking.items():
        new = f"{folder.part(entry)}.new"
        yield FileUploadCommand(_opened(source, found[name]), new)
        yield StringCommand("mv", QuoteString(new), QuoteString(str(folder.part(entry))))


def _opened(source: Path, one: Range) -> str | IO[Any]:
    if source.is_dir():
        return str(one.path)
    archive = tarfile.open(source, "r:")  # noqa: SIM115 - open while its member is read
    member = next(m for m in archive if m.offset_data == one.offset and m.isreg())
    stream = archive.extractfile(member)
    assert stream is not None
    return stream
