"""What lies in a checkpoint's folder, held against its listing; bad files are taken aside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from glmstead.checkpoint.edits import edited_digest
from glmstead.checkpoint.hashing import DigestCache, stat_of
from glmstead.checkpoint.listing import STATE, Folder, Listing

_WEIGHTS = (".safetensors", ".bin", ".pt", ".pth", ".gguf")
_LEFTOVERS = (".incomplete", ".part", ".new")


@dataclass
class Survey:
    """Names by what is true of them; ``missing`` includes what was taken aside as bad."""

    good: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    bad: dict[str, str] = field(default_factory=dict)
    extra: list[str] = field(default_factory=list)
    leftovers: list[str] = field(default_factory=list)
    renamed: dict[str, str] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """What a person should know, one line a finding; empty when all is as listed."""
        lines = [f"{name}: {why}" for name, why in self.bad.items()]
        lines += [f"{old}: is {new}, renamed" for new, old in self.renamed.items()]
        lines += [f"{name}: not of this checkpoint" for name in self.extra]
        lines += [f"{name}: left by a killed download" for name in self.leftovers]
        gone = [name for name in self.missing if name not in self.bad]
        if gone:
            more = f" and {len(gone) - 1} more" if len(gone) > 1 else ""
            lines.append(f"{gone[0]}{more}: missing")
        return lines


def survey(
    folder: Folder,
    listing: Listing,
    cache: DigestCache,
    count: Callable[[int], None] = lambda read: None,
) -> Survey:
    """Say what is good, bad, missing, extra or renamed; reads only what the cache does not know."""
    found = Survey()
    names = _names(folder.root)
    present = {name: size for name in names if (size := _size(folder, name)) >= 0}
    links = {name: -1 for name in names if (folder.root / name).is_symlink()}
    whole = [n for n, entry in listing.files.items() if present.get(n) == entry.size]
    edited = {n for n in listing.files if n in present and n not in whole and _edited(folder, n)}
    strangers = [name for name in {**present, **links} if name not in listing.files]
    found.leftovers = [name for name in strangers if name.endswith(_LEFTOVERS)]
    weights = [name for name in strangers if name.endswith(_WEIGHTS)]
    wanted = {entry.size for name, entry in listing.files.items() if name not in present}
    cache.fill([*whole, *edited, *(n for n in weights if present.get(n) in wanted)], count)
    for name, entry in listing.files.items():
        digests = (cache.get(name) or {}) if name in present else {}
        corrected = digests and digests["sha256"] == edited_digest(folder, name)
        if entry.matches(digests) or corrected:
            found.good.append(name)
        else:
            found.missing.append(name)
            if name in present:
                found.bad[name] = _why_bad(present[name], entry.size)
    _find_renamed(found, listing, cache, weights)
    found.extra = [name for name in weights if name not in found.renamed.values()]
    return found


def tidy(folder: Folder, found: Survey, cache: DigestCache) -> None:
    """Put renamed files back, take bad and foreign weights aside, remove leftovers."""
    for name in [*found.bad, *found.extra]:
        target = folder.aside / name
        target.parent.mkdir(parents=True, exist_ok=True)
        (folder.root / name).replace(target)
        cache.drop(name)
    for new, old in found.renamed.items():
        digests, path = cache.get(old), folder.root / new
        path.parent.mkdir(parents=True, exist_ok=True)
        (folder.root / old).replace(path)
        cache.drop(old)
        stat = stat_of(path)
        if digests and stat:
            cache.put({new: (digests, stat)})
    for name in found.leftovers:
        (folder.root / name).unlink(missing_ok=True)


def _find_renamed(found: Survey, listing: Listing, cache: DigestCache, weights: list[str]) -> None:
    for stranger in weights:
        digests = cache.get(stranger)
        for name in found.missing if digests else []:
            if name not in found.bad and listing.files[name].matches(digests or {}):
                found.renamed[name] = stranger
                found.missing.remove(name)
                found.good.append(name)
                break


def _why_bad(size: int, wanted: int) -> str:
    if size < wanted:
        return f"truncated, {size} of {wanted} bytes"
    return f"{size} bytes instead of {wanted}" if size > wanted else "wrong content"


def _edited(folder: Folder, name: str) -> bool:
    return bool(edited_digest(folder, name))


def _size(folder: Folder, name: str) -> int:
    """Bytes of a regular file, -1 for anything else: a link may lead anywhere."""
    path = folder.root / name
    return path.stat().st_size if path.is_file() and not path.is_symlink() else -1


def _names(root: Path) -> list[str]:
    if not root.is_dir():
        return []
    names = (path.relative_to(root) for path in sorted(root.rglob("*")))
    return [str(name) for name in names if name.parts[0] != STATE]
