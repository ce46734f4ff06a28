"""Scale to zero, the gateway's half: says when it was used, and wakes an engine that sleeps.

The watch, which is root, does the rest: it stops an engine nobody used, and starts it when the file
``wake`` appears. Standard library only. Whoever comes to a gate that is closed for another reason,
as a drain, does not wait.
"""

import asyncio
import hmac
import time
from collections.abc import Callable
from pathlib import Path

WATCH_HEADER = b"x-glmstead-watch"
POLL_S = 0.25


class Sleep:
    """Does nothing without a folder. ``key`` is the gateway's: strangers wake nobody.

    ``asleep`` is the file that says so, ``wait_s`` how long a request may wait for the engine.
    """

    def __init__(
        self,
        folder: Path | None = None,
        wait_s: float = 0,
        key: str = "",
        asleep: Path = Path("/nonexistent"),
    ) -> None:
        self.folder = folder
        self.asleep = asleep
        self.wait_s = wait_s
        self.key = key.encode()

    def used(self, headers: dict[bytes, bytes]) -> None:
        """Note that somebody uses the engine; the watch does not count."""
        if self.folder is not None and WATCH_HEADER not in headers:
            (self.folder / "used").touch()

    async def woken(self, headers: dict[bytes, bytes], is_open: Callable[[], bool]) -> bool:
        """Wake the engine and wait until the gate is open; false when it takes too long."""
        if self.folder is None or WATCH_HEADER in headers or not self._is_known(headers):
            return False
        waking = self.folder / "waking"
        if not (self.asleep.exists() or _age_s(waking) < self.wait_s):
            return False
        deadline = time.monotonic() + self.wait_s
        while not is_open():
            if time.monotonic() > deadline:
                return False
            self.used(headers)  # who waits uses it: it must not fall asleep before the answer
            (self.folder / "wake").touch()
            await asyncio.sleep(POLL_S)
        waking.unlink(missing_ok=True)
        return True

    def _is_known(self, headers: dict[bytes, bytes]) -> bool:
        shown = headers.get(b"authorization", b"").removeprefix(b"Bearer ")
        shown = shown or headers.get(b"x-api-key", b"") or headers.get(b"api-key", b"")
        return bool(self.key) and hmac.compare_digest(shown, self.key)


def _age_s(file: Path) -> float:
    """Seconds since a file was touched; endless where there is none."""
    return time.time() - file.stat().st_mtime if file.exists() else float("inf")
