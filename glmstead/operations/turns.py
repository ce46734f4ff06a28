"""Runs that meet on a host: a command outlives the controller that was killed."""

from typing import Any

from pyinfra.api import QuoteString, StringCommand


def in_turn(
    folder: str, *script: str | QuoteString, wait_s: int = 60, **arguments: Any
) -> StringCommand:
    """Command of a script that waits for another run's in the same folder, for ``wait_s`` at most."""
    place = QuoteString(folder)
    busy = f"another run has been at work in {folder} for {wait_s} s; fix: see fuser -v {folder}"
    return StringCommand(
        *("mkdir -p", place, "&& (", f"flock --timeout {wait_s} 9 ||"),
        *("{ echo", QuoteString(busy), ">&2; exit 1; };", *script, ") 9<", place),
        **arguments,
    )
