"""The table of faults in docs/operating.md, written by the run that measured it."""

from dataclasses import dataclass
from pathlib import Path

BEGIN, END = "<!-- faults: written by scripts/test --faults -->", "<!-- end of faults -->"
HEAD = [
    "| fault | healed by | seconds | restarts | longest wait for an error, s |",
    "|---|---|---|---|---|",
]


@dataclass(frozen=True)
class Row:
    """A fault and its healing; times in seconds."""

    fault: str
    healed_by: str
    seconds: float
    restarts: dict[str, int]
    longest_error_s: float

    def line(self) -> str:
        """The row as Markdown."""
        units = ", ".join(f"{unit} {count}" for unit, count in self.restarts.items()) or "none"
        seconds = f"{self.seconds:.0f}" if self.seconds else "no interruption"
        error = f"{self.longest_error_s:.0f}" if self.longest_error_s else "no error"
        return f"| {self.fault} | {self.healed_by} | {seconds} | {units} | {error} |"


def lines(rows: list[Row]) -> list[str]:
    """The rows with their head; nothing where nothing was measured."""
    return [*HEAD, *(row.line() for row in rows)] if rows else []


def write(page: Path, rows: list[Row]) -> None:
    """Replace the rows of the same faults between the page's marks, and add the new ones."""
    before, rest = page.read_text().split(BEGIN)
    old, after = rest.split(END)
    kept = {line.split(" | ")[0]: line for line in old.strip().splitlines()[2:]}
    kept |= {row.line().split(" | ")[0]: row.line() for row in rows}
    text = "\n".join([BEGIN, *HEAD, *kept.values(), END])
    page.write_text(before + text + after)
