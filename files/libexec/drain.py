"""Waits, bounded, until a server has no request left; run as ExecStop, so that a stop loses none.

New ones are refused meanwhile: the gate before the gateway closes first.
Usage: drain.py URL TIMEOUT_S
"""

import sys
import time
import urllib.request

NAMES = ("vllm:num_requests_running", "vllm:num_requests_waiting")


def unfinished(url: str) -> float:
    """Requests that run or wait; raises OSError where the server is gone."""
    with urllib.request.urlopen(f"{url}/metrics", timeout=5) as answer:
        lines = answer.read().decode().splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.split("{")[0] in NAMES)


def main(url: str, timeout_s: str) -> int:
    deadline = time.monotonic() + float(timeout_s)
    try:
        while left := unfinished(url):
            if time.monotonic() > deadline:
                print(f"{left:g} requests have not ended after {timeout_s} s: cut off", flush=True)
                break
            time.sleep(0.25)
    except OSError:  # nobody there who could still answer
        return 0
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
