"""Files replaced whole or not at all, with their bytecode.

Installers hard-link site-packages from a cache (uv does): a file is never written in place.

Sent to hosts: standard library only, Python 3.10 and newer.
"""

import contextlib
import fcntl
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

_PREFIX = ".glmstead-"
_LOCK_PATIENCE_S = 60


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the only right to patch the package in ``folder``.

    Raises TimeoutError when another run keeps it for a minute.
    """

    def give_up(signum: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"another run has been patching {folder} for {_LOCK_PATIENCE_S} s")

    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(_LOCK_PATIENCE_S)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        signal.alarm(0)
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
        os.close(handle)


def replace_all(new: dict[Path, bytes | None]) -> None:
    """Put every text in its place as ``replace`` does (None: no file), or none of them.

    All are laid beside their places before the first one moves in; should one not move in, what
    stood before comes back. Raises OSError with nothing changed.
    """
    fresh: dict[Path, Path] = {}
    before: dict[Path, bytes | None] = {}
    try:
        for path, data in new.items():
            if data is not None:
                fresh[path] = _lay_beside(path, data)
        for path in new:
            before[path] = _bytes(path)
            _move_in(fresh[path], path) if path in fresh else _remove(path)
    except BaseException:
        for path, data in before.items():
            if _bytes(path) != data:
                _remove(path) if data is None else replace(path, data)
        raise
    finally:
        for one in fresh.values():
            one.unlink(missing_ok=True)


def replace(path: Path, data: bytes) -> None:
    """Put ``data`` in the place of a file, with its mode and owner; a link is replaced, not followed.

    A kill at any moment leaves the old file or the new one. Raises OSError with nothing changed.
    """
    replace_all({path: data})


def _lay_beside(path: Path, data: bytes) -> Path:
    old = path.stat() if path.exists() else None
    _sweep(path)
    fresh = path.with_name(f"{_PREFIX}{path.name}-{os.getpid()}")
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            _take_after(file.fileno(), old)
            file.flush()
            os.fsync(file.fileno())
        if old is not None:
            _newer_than(fresh, old)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
    return fresh


def _move_in(fresh: Path, path: Path) -> None:
    _forget_bytecode(path)
    fresh.replace(path)
    _sync_folder(path.parent)


def _remove(path: Path) -> None:
    _forget_bytecode(path)
    path.unlink(missing_ok=True)
    _sync_folder(path.parent)


def compile_bytecode(path: Path) -> None:
    """Leave bytecode beside the file: root owns it, the services could not write their own."""
    import py_compile  # here: a probe does not need it, and is asked far more often

    with contextlib.suppress(OSError):  # a read-only image: it is compiled at each start
        py_compile.compile(str(path), doraise=True)


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _take_after(handle: int, old: os.stat_result | None) -> None:
    if old is None:
        os.fchmod(handle, 0o644)
        return
    new = os.fstat(handle)
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        os.fchown(handle, old.st_uid, old.st_gid)
    os.fchmod(handle, old.st_mode & 0o7777)


def _newer_than(fresh: Path, old: os.stat_result) -> None:
    """Bytecode knows its source by size and whole second: never give it the same pair again."""
    new = fresh.stat()
    if int(new.st_mtime) <= int(old.st_mtime):
        os.utime(fresh, (new.st_atime, int(old.st_mtime) + 1))


def _forget_bytecode(path: Path) -> None:
    # of every interpreter and level; some installers write bytecode that never checks its source
    for stale in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
        stale.unlink(missing_ok=True)


def _sweep(path: Path) -> None:
    """Remove what a killed run left half-written; the lock keeps live ones away."""
    for left in path.parent.glob(f"{_PREFIX}{path.name}-*"):
        left.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
