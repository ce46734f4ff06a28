"""One run at a time holds a checkpoint's folder; others see that it does."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from glmstead.checkpoint.listing import STATE, CheckpointError, Folder

_WAIT_S = 60.0


@contextmanager
def locked(folder: Folder) -> Iterator[int]:
    """Hold the folder; a run whose controller is gone ends at its next line of progress."""
    path = folder.root / STATE / "lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    deadline = time.monotonic() + _WAIT_S
    try:
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise CheckpointError(
                        f"{folder.root}: another fetch runs; fix: wait for it, or end it"
                    ) from None
                time.sleep(0.2)
        yield handle
    finally:
        os.close(handle)


def is_locked(folder: Folder) -> bool:
    """Whether a fetch into this folder runs."""
    try:
        handle = os.open(folder.root / STATE / "lock", os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False
