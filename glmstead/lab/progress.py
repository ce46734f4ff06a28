"""One line that says what is being done, how far it is and for how long."""

import shutil
import sys
import time
from types import TracebackType

import click

PLAIN_INTERVAL_S = 15.0
TERMINAL_INTERVAL_S = 0.2


class Progress:
    """A step that takes long: refreshed in place on a terminal, a line now and then elsewhere.

    >>> with Progress("Building the base image") as progress:
    ...     progress.update("unpacking")
    """

    def __init__(self, what: str) -> None:
        self.what = what
        self._start = self._shown = time.monotonic()
        self._terminal = sys.stdout.isatty()

    def __enter__(self) -> "Progress":
        return self

    def update(self, how_far: str) -> None:
        """Show ``how_far``, unless something was shown a moment ago."""
        now = time.monotonic()
        interval = TERMINAL_INTERVAL_S if self._terminal else PLAIN_INTERVAL_S
        if now - self._shown < interval:
            return
        self._shown = now
        text = f"{self.what}: {how_far} ({now - self._start:.0f} s)"
        if self._terminal:
            click.echo(f"\r\x1b[K{text[: shutil.get_terminal_size().columns - 1]}", nl=False)
        else:
            click.echo(text)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        clear = "\r\x1b[K" if self._terminal else ""
        end = "stopped" if kind else "done"
        click.echo(f"{clear}{self.what}: {end} ({time.monotonic() - self._start:.1f} s)")
