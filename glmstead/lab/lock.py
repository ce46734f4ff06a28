"""One command at a time works on a lab."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from glmstead.lab.config import LabConfig, LabError


@contextmanager
def locked(config: LabConfig) -> Iterator[None]:
    """Hold the lab's lock; raises LabError naming the process that has it."""
    config.state.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = config.state / "lock"
    with path.open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            holder = lock.read().strip()
            raise LabError(f"process {holder} is at work on this lab: wait for it") from None
        # `down` removes the directory: a lock on a removed file protects nothing.
        if not path.exists() or path.stat().st_ino != os.fstat(lock.fileno()).st_ino:
            raise LabError("another process has just taken this lab down: run again")
        lock.truncate(0)
        lock.write(f"{os.getpid()}")
        lock.flush()
        yield


@contextmanager
def in_turn(path: Path) -> Iterator[None]:
    """Wait until no other lab makes the same part of the cache; ``path``: the file to lock."""
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
