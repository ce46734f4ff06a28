"""What verdicts mean for a deploy: what stops it, and what hosts must agree on. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any

from packaging.specifiers import SpecifierSet

from glmstead.patching.catalogue import Patch
from glmstead.patching.releases import contains
from glmstead.patching.verdicts import APPLIED, AS_DECLARED, blocks, left_to_do

Row = dict[str, Any]


def blocking(rows: Iterable[Row], needed: Iterable[str]) -> list[str]:
    """One line for every needed tag whose verdict stops the deploy; the reason says what to do."""
    found, wanted = {row["tag"]: row for row in rows}, list(needed)
    lines = [f"{tag}: no such patch in the catalogue" for tag in wanted if tag not in found]
    return lines + [
        describe(row)
        for row in found.values()
        if row["tag"] in wanted and blocks(row["verdict"], row["repairable"])
    ]


def pending(rows: Iterable[Row], needed: Iterable[str]) -> list[str]:
    """Needed tags whose edits are missing and can be made."""
    wanted = set(needed)
    return [
        row["tag"]
        for row in rows
        if row["tag"] in wanted and left_to_do(row["verdict"], row["repairable"])
    ]


def carried(rows: Iterable[Row], tags: Iterable[str]) -> list[str]:
    """Tags that stand in a file, whatever their verdict."""
    wanted = set(tags)
    return [row["tag"] for row in rows if row["tag"] in wanted and row["carried"]]


def as_declared(rows: Iterable[Row], needed: Iterable[str]) -> bool:
    """Whether every needed patch is applied, or has been made needless."""
    verdicts = {row["tag"]: row["verdict"] for row in rows}
    return all(verdicts.get(tag) in AS_DECLARED for tag in needed)


def manifest(rows: Iterable[Row], needed: Iterable[str]) -> dict[str, list[dict[str, str]]]:
    """What the guard at a service's start checks: the patched files of every applied patch."""
    wanted = set(needed)
    return {
        row["tag"]: [{"file": file["path"], "sha256": file["sha256"]} for file in row["files"]]
        for row in rows
        if row["tag"] in wanted and row["verdict"] == APPLIED
    }


def conflicts(
    catalogue: Mapping[str, Patch], tags: Iterable[str], settings: Mapping[str, str]
) -> list[tuple[str, str]]:
    """Why tags cannot stand with a setting (``{"vllm_speculative_config": "mtp"}``), and the fix."""
    chosen = list(tags)
    return [
        (
            f"{tag} and {entry.value} exclude each other: {entry.reason}",
            (f"add {entry.unless} to patches_tags, or " if entry.unless else "")
            + f"remove {entry.setting}",
        )
        for tag in chosen
        for entry in (catalogue[tag].conflicts if tag in catalogue else ())
        if settings.get(entry.setting) == entry.value and entry.unless not in chosen
    ]


def describe(row: Row) -> str:
    """A verdict in one line: tag, release, file, verdict, reason."""
    where = f"{row['package']} {row['release'] or '(absent)'}"
    instead = f"; or serve with {row['flag']} instead" if row.get("flag") else ""
    return f"{row['tag']} on {where}: {row['verdict']}: {row['reason']}{instead}"


def differences(hosts: Mapping[str, Iterable[Row]], needed: Iterable[str]) -> list[str]:
    """Lines that name two hosts and a file whose patched text is not the same on both."""
    wanted, lines = set(needed), list[str]()
    seen: dict[str, tuple[str, str | None]] = {}
    for name, rows in hosts.items():
        for row in rows:
            for file in row["files"] if row["tag"] in wanted else ():
                first, sha256 = seen.setdefault(file["file"], (name, file["sha256"]))
                if sha256 != file["sha256"]:
                    lines.append(f"{file['file']} is not the same on {first} and {name}")
    return list(dict.fromkeys(lines))


def window_error(
    patch: Patch, version: str, python: str, distribution: str | None = None
) -> str | None:
    """Why a pinned release or Python is outside the patch's window; None when it is inside.

    Releases are known for vLLM only: FlashInfer's follows from vLLM's own pin.
    """
    if patch.package != "vllm" or not SpecifierSet(patch.python).contains(f"{python}.0"):
        return None
    windows = {
        name: window
        for name, window in patch.releases.items()
        if distribution is None or name == distribution
    }
    if any(contains(window, version) for window in windows.values()):
        return None
    known = ", ".join(f"{name} {window}" for name, window in patch.releases.items())
    return f"{distribution or patch.package} {version} is outside its window ({known})"
