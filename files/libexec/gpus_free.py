"""Waits, bounded, until a host's GPUs are free; run by the engine's units before they start.

A process that has ended, or a removed container, has not yet given its memory back: a start into
what is left dies minutes later, for want of memory.

Usage: gpus_free.py BOUND_S FREE_MIB, what a driver itself may hold of a GPU
"""

import subprocess
import sys
import time

SECONDS = 20  # nvidia-smi has for an answer


def smi(query: str) -> "list[list[str]]":
    """Rows of a question to nvidia-smi; raises OSError where it gives no answer."""
    words = ["nvidia-smi", query, "--format=csv,noheader,nounits"]
    pipe = subprocess.PIPE
    process = subprocess.Popen(words, stdout=pipe, stderr=pipe, text=True, errors="replace")
    try:
        out, err = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()  # and left behind: on a wedged GPU it cannot die
        raise OSError(f"no answer in {SECONDS} s") from None
    if process.returncode:
        raise OSError(" ".join((out + err).split()))
    return [[cell.strip() for cell in line.split(",")] for line in out.splitlines()]


def taken(free_mib: int) -> "list[str]":
    """GPUs that hold more, and who holds it."""
    rows = smi("--query-gpu=index,memory.used")
    used = [row for row in rows if len(row) == 2 and row[1].isdecimal()]
    lines = [f"GPU {index} holds {mib} MiB" for index, mib in used if int(mib) > free_mib]
    if not lines:
        return []
    told = [row for row in smi("--query-compute-apps=pid,process_name,used_memory") if row[2:]]
    held = [f"{', '.join(row[1:-1])} (pid {row[0]}) {row[-1]} MiB of it" for row in told]
    return [*lines, *(held or ["no compute process told, so look for a display"])]


def main(bound_s: str, free_mib: str) -> int:
    deadline = time.monotonic() + float(bound_s)
    told = False
    try:
        while lines := taken(int(free_mib)):
            if time.monotonic() > deadline:
                why = ", ".join(lines)
                print(f"{why}: not free after {bound_s} s: stop that, or glmstead recover")
                return 1
            if not told:
                print(f"waiting for memory of GPUs: {', '.join(lines)}", flush=True)
            told = True
            time.sleep(1)
    except OSError as error:
        print(f"nvidia-smi: {error}: glmstead deploy says what is wrong")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
