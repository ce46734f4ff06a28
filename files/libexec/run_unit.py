"""Starts or restarts a unit and waits for it; on failure its last journal lines say why.

Usage: run_unit.py start|restart UNIT. A job is cancelled when a unit below restarts meanwhile, which
starts this one anew: then that start is waited for. Who starts something wants nothing to sleep:
an engine may have fallen asleep since the deploy looked.
"""

import subprocess
import sys
from pathlib import Path


def main(verb: str, unit: str) -> int:
    for mark in Path("/run/glmstead").glob("*/asleep"):
        mark.unlink(missing_ok=True)
    done = subprocess.run(["systemctl", verb, unit], stderr=subprocess.PIPE, text=True)
    if done.returncode and "cancel" in done.stderr:
        done = subprocess.run(["systemctl", "start", unit], stderr=subprocess.PIPE, text=True)
    if done.returncode:
        print(done.stderr, end="", file=sys.stderr)
        journal = ["journalctl", "--no-pager", "-o", "cat", "-n", "40", "-u", unit]
        subprocess.run(journal, stdout=sys.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
