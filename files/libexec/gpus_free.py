"""Waits, bounded, until a host's GPUs are free; run by the engine's units before they start.

A process that has ended, or a removed container, has not yet given its memory back: a start into
what is left dies minutes later, for want of memory.

Usage: gpus_free.py BOUND_S FREE_MIB, what a driver itself may hold of a GPU
"""

import subprocess
import sys
import time


def smi(query: str) -> "list[list[str]]":
    """Rows of a question to nvidia-smi; raises OSError where it gives no answer."""
    words = ["nvidia-smi", query, "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=20)
    except subprocess.TimeoutExpired:
        raise OSError("no answer in 20 s") from None
    if done.returncode:
        raise OSError(" ".join((done.stdout + done.stderr).split()))
    return [[cell.strip() for cell in line.split(",")] for line in done.stdout.splitlines()]


def taken(free_mib: int) -> "list[str]":
    """GPUs that hold more, and who holds it."""
    used = [row for row in smi("--query-gpu=index,memory.used") if row[1].isdigit()]
    lines = [f"GPU {index} holds {mib} MiB" for index, mib in used if int(mib) > free_mib]
    if not lines:
        return []
    held = smi("--query-compute-apps=pid,process_name,used_memory")
    return [*lines, *(f"{row[1]} (pid {row[0]}) {row[-1]} MiB of it" for row in held)]


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
