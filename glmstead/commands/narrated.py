"""Run pyinfra so that a person sees it live: what runs now, and for how long already."""

import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from queue import Empty, Queue
from threading import Thread
from typing import IO

import click

from glmstead import ROOT

QUIET_S = 10.0
_STARTING = "--> Starting operation: "


def run_narrated(words: Sequence[str], answer: str = "") -> int:
    """Run pyinfra in the project's root and return its exit status.

    A terminal gets pyinfra's own spinner; elsewhere a line every ``QUIET_S`` silent seconds says
    which operation runs, its number, and for how long.
    """
    if sys.stdout.isatty():
        return subprocess.run(words, cwd=ROOT, text=True, check=False, input=answer).returncode
    started = operation_started = time.monotonic()
    operation, steps = "connecting", 0
    with subprocess.Popen(
        words,
        cwd=ROOT,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        for line in _lines_or_silence(_talk(process, answer)):
            now = time.monotonic()
            if line is None:
                seconds = now - operation_started
                click.echo(f"    ... {operation}: {seconds:.0f} s (operation {steps})")
                continue
            if line.startswith(_STARTING):
                operation, operation_started = line.removeprefix(_STARTING).strip(), now
                steps += 1
            click.echo(line, nl=False)
    click.echo(f"{steps} operations in {time.monotonic() - started:.0f} s")
    return process.returncode


def _talk(process: "subprocess.Popen[str]", answer: str) -> IO[str]:
    """Send all input and return the output, both of which Popen was asked to pipe."""
    if process.stdin is None or process.stdout is None:
        raise ValueError("pipes are missing")
    process.stdin.write(answer)
    process.stdin.close()
    return process.stdout


def _lines_or_silence(stream: IO[str]) -> Iterator[str | None]:
    """Yield each line as it comes, and None after every ``QUIET_S`` seconds without one."""
    lines: Queue[str | None] = Queue()

    def read() -> None:
        for line in stream:
            lines.put(line)
        lines.put(None)

    Thread(target=read, daemon=True).start()
    while True:
        try:
            line = lines.get(timeout=QUIET_S)
        except Empty:
            yield None
            continue
        if line is None:
            return
        yield line
