"""A checkpoint in a folder or an uncompressed tar of this host: ranges of files, copied by range."""

from __future__ import annotations

import tarfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from glmstead.checkpoint.listing import CheckpointError

_BLOCK = 4 << 20


@dataclass(frozen=True)
class Range:
    """Bytes of a file."""

    path: Path
    offset: int
    size: int

    def copy_to(self, part: Path) -> None:
        """Append what ``part`` lacks."""
        with self.path.open("rb") as source, part.open("ab") as target:
            have = target.tell()
            if have > self.size:
                have = 0
                target.truncate(0)
            source.seek(self.offset + have)
            while have < self.size:
                block = source.read(min(_BLOCK, self.size - have))
                if not block:
                    raise OSError(f"{self.path}: shorter than it was")
                target.write(block)
                have += len(block)


def ranges(source: Path) -> dict[str, Range]:
    """Return the files of a folder or tar by name, none where there is neither.

    One folder around all of a tar is left out. Raises CheckpointError for a tar whose bytes are not
    simply those of its files.
    """
    if not source.exists():
        return {}  # another host may have it
    if source.is_dir():
        paths = [path for path in sorted(source.rglob("*")) if path.is_file()]
        names = {str(path.relative_to(source)): path for path in paths}
        return {name: Range(path, 0, path.stat().st_size) for name, path in names.items()}
    try:
        with tarfile.open(source, "r:") as archive:
            files = [member for member in archive if not member.isdir()]
    except (OSError, tarfile.TarError) as error:
        fix = "give a folder or an uncompressed tar"
        raise CheckpointError(f"{source}: {error}; fix: {fix}") from error
    for member in files:
        if member.sparse is not None or not member.isreg():
            fix = "pack it with tar --dereference --hard-dereference, without --sparse"
            raise CheckpointError(f"{source}: {member.name!a} is a link or sparse; fix: {fix}")
    parts = {member.name: PurePosixPath(member.name).parts for member in files}
    tops = {names[0] for names in parts.values()}
    skip = 1 if len(tops) == 1 and all(len(names) > 1 for names in parts.values()) else 0
    return {
        str(PurePosixPath(*parts[one.name][skip:])): Range(source, one.offset_data, one.size)
        for one in files
    }
