"""A probe as one text, which a host's plain python3 runs with nothing of ours installed."""

import re
from pathlib import Path

FOLDER = Path(__file__).parent / "probes"
_PART = re.compile(r"^from glmstead\.probes\.(\w+) import .*\n", re.M)


def probe_source(path: Path) -> str:
    """Text of a program; what it imports from ``glmstead.probes`` stands in it, once."""
    seen: set[str] = set()

    def whole(text: str) -> str:
        return _PART.sub(lambda found: part(found[1]), text)

    def part(name: str) -> str:
        if name in seen:
            return ""
        seen.add(name)
        return whole((FOLDER / f"{name}.py").read_text())

    return whole(path.read_text())
