"""Removes what earlier runs of Ray and vLLM left: run by their units before they start.

Usage: tidy.py USER RAY_FOLDER KEEP: shared memory of USER that no process has mapped, which a
killed rank leaves for ever, and all but the newest KEEP session folders, whose logs fill the disk.
"""

import os
import pwd
import shutil
import sys
from pathlib import Path

SHARED_MEMORY = Path("/dev/shm")


def mapped() -> "set[str]":
    """Paths of shared memory that some process has mapped or holds open."""
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            lines = (process / "maps").read_text().splitlines()
            found |= {line.split(None, 5)[5] for line in lines if "/dev/shm/" in line}
            found |= {str(link.readlink()) for link in (process / "fd").iterdir()}
        except OSError:  # it ended meanwhile
            continue
    return found


def tidy_shared_memory(user: str) -> None:
    """Remove a user's segments that nobody has mapped."""
    uid, kept = pwd.getpwnam(user).pw_uid, mapped()
    for segment in SHARED_MEMORY.iterdir():
        if segment.is_file() and segment.stat().st_uid == uid and str(segment) not in kept:
            size_mb = segment.stat().st_size / 1e6
            print(f"removing {segment} ({size_mb:.0f} MB), left by a killed rank", flush=True)
            segment.unlink()


def tidy_sessions(folder: str, keep: int) -> None:
    """Remove old session folders, which are named by their date."""
    sessions = sorted(path for path in Path(folder).glob("session_2*") if path.is_dir())
    for session in sessions[: max(0, len(sessions) - keep)]:
        shutil.rmtree(session, ignore_errors=True)


def main(user: str, folder: str, keep: str) -> int:
    os.nice(10)
    tidy_shared_memory(user)
    tidy_sessions(folder, int(keep))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
