"""Waits, bounded, until a server has no request left; run as ExecStop, so that a stop loses none.

New ones are refused meanwhile: the gate before the gateway closes first.
Usage: drain.py URL TIMEOUT_S
"""

import math
import sys
import time
import urllib.error
import urllib.request

NAMES = ("vllm:num_requests_running", "vllm:num_requests_waiting")
QUIET_S = 1.0  # none for so long: what has passed the gate has reached the server, too


def unfinished(url: str) -> float:
    """Requests that run or wait; raises ConnectionError where the server is gone."""
    try:
        with urllib.request.urlopen(f"{url}/metrics", timeout=5) as answer:
            lines = answer.read().decode().splitlines()
    except urllib.error.URLError as error:
        if isinstance(error.reason, ConnectionError):
            raise error.reason from None
        return math.nan  # too busy to say
    except TimeoutError:
        return math.nan
    return sum(float(line.split()[-1]) for line in lines if line.split("{")[0] in NAMES)


def main(url: str, timeout_s: str) -> int:
    began = quiet_since = time.monotonic()
    try:
        while time.monotonic() - quiet_since < QUIET_S:
            if left := unfinished(url):
                quiet_since = time.monotonic()
                if quiet_since - began > float(timeout_s):
                    known = "" if math.isnan(left) else f"{left:g} "
                    print(f"{known}requests have not ended after {timeout_s} s: cut off")
                    break
            time.sleep(0.25)
    except ConnectionError:  # nobody there who could still answer
        return 0
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
