"""Verdicts for people and for machines. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any

from glmstead.patching.catalogue import Patch
from glmstead.text_table import table

Row = dict[str, Any]
_HEADER = ("TAG", "PACKAGE", "RELEASE", "VERDICT", "FILE", "SHA256", "UPSTREAM", "REASON")
_FORGE = "https://github.com/"


def document(rows: Iterable[Row], catalogue: Mapping[str, Patch], host: str = "") -> list[Row]:
    """Rows as the JSON output holds them: with the upstream links, and the host if there is one."""
    whose = {"host": host} if host else {}
    return [{**whose, **row, "upstream": catalogue[row["tag"]].upstream} for row in rows]


def verdict_table(rows: list[Row]) -> str:
    """The table of ``document`` rows; hosts get a column when rows name them."""
    named = any("host" in row for row in rows)
    header = ("HOST", *_HEADER) if named else _HEADER
    return table(header, [(*([row["host"]] if named else []), *_cells(row)) for row in rows])


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row["tag"],
        row["package"] or "?",
        row["release"] or "-",
        row["verdict"],
        row["file"],
        (row["sha256"] or "-")[:12],
        row["upstream"][0].removeprefix(_FORGE),
        row["reason"],
    )
