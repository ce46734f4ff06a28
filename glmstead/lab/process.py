"""Programs and bounded waits."""

import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from glmstead.lab.config import LabError

T = TypeVar("T")

POLL_S = 0.05


def run(argv: Sequence[str], stdin: str | None = None, timeout_s: float = 60) -> str:
    """Standard output of a program; raises LabError with its last words if it fails."""
    try:
        done = subprocess.run(
            argv, input=stdin, capture_output=True, text=True, timeout=timeout_s, check=False
        )
    except FileNotFoundError:
        raise LabError(f"{argv[0]} is not installed") from None
    except subprocess.TimeoutExpired:
        raise LabError(f"{' '.join(argv)}: no end after {timeout_s:.0f} s") from None
    if done.returncode:
        raise LabError(f"{' '.join(argv)}: {last_line(done.stderr or done.stdout)}")
    return done.stdout


def last_line(text: str) -> str:
    """Last line that says something, for one-line messages."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no output"


def wait_until(probe: Callable[[], T | None], timeout_s: float) -> T | None:
    """What ``probe`` says as soon as it says something; None after ``timeout_s`` seconds."""
    deadline = time.monotonic() + timeout_s
    while (answer := probe()) is None and time.monotonic() < deadline:
        time.sleep(POLL_S)
    return answer


def dying_with_us(argv: Sequence[str]) -> list[str]:
    """``argv`` so that it, its children and its mounts vanish when this process does."""
    namespaces = ["unshare", "--mount", "--pid", "--fork", "--kill-child=KILL"]
    return ["setpriv", "--pdeathsig", "KILL", *namespaces, *argv]


def remove_tree(path: Path) -> None:
    """Delete a directory, never crossing into anything mounted in it."""
    if path.is_symlink() or path.exists():
        run(["rm", "-rf", "--one-file-system", "--", str(path)], timeout_s=1800)
