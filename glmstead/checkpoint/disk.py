"""What a disk says when it takes no more: no source is to blame, and to try again is of no use."""

from __future__ import annotations

import errno
import os

_SAID = tuple(os.strerror(code) for code in (errno.ENOSPC, errno.EDQUOT, errno.EROFS))
FIX = "free space, or make it writable, then run this again: it resumes"


def is_full(said: str) -> bool:
    """Whether an error, in whoever's words, is of a disk that takes no more."""
    return any(text in said for text in _SAID)
