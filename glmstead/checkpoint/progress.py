"""Progress that a person can read and a log can bear: bytes, rate, time left."""

from __future__ import annotations

import threading
import time

_EVERY_S = (5.0, 30.0)  # at first, and after two minutes
_SOON_S = 120.0


class Progress:
    """Counts bytes of one piece of work; prints a line now and then, and one at the end."""

    def __init__(self, what: str, total: int) -> None:
        self._what, self._total = what, total
        self._lock = threading.Lock()
        self._started = self._printed = self._moved = time.monotonic()
        self.done = 0

    def idle_s(self) -> float:
        """How long no byte has moved."""
        return time.monotonic() - self._moved

    def add(self, count: int) -> None:
        """Count bytes; a negative count takes bytes back that turned out bad."""
        with self._lock:
            self.done += count
            now = time.monotonic()
            self._moved = now if count else self._moved
            every = _EVERY_S[now - self._started > _SOON_S]
            if now - self._printed < every:
                return
            self._printed = now
        print(self.line(now), flush=True)

    def line(self, now: float) -> str:
        """Return the line at a time of the monotonic clock."""
        seconds = max(now - self._started, 1e-3)
        rate = self.done / seconds
        left = (self._total - self.done) / rate if rate > 0 else 0.0
        share = 100 * self.done // self._total if self._total else 100
        return (
            f"{self._what}: {amount(self.done)} of {amount(self._total)} ({share} %), "
            f"{amount(rate)}/s, {duration(left)} left"
        )

    def finish(self) -> None:
        """Print what it came to, unless there was nothing to do."""
        seconds = time.monotonic() - self._started
        if self._total:
            rate = amount(self.done / max(seconds, 1e-3))
            text = f"{amount(self.done)} in {duration(seconds)}, {rate}/s"
            print(f"{self._what}: {text}", flush=True)


def amount(count: float) -> str:
    """Return bytes in decimal units, three digits or so."""
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"


def duration(seconds: float) -> str:
    """Return a time as people say it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 90 else f"{minutes / 60:.1f} h"
