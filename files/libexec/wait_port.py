"""Waits, bounded, until somebody listens on a port: Ray's worker for its head.

Usage: wait_port.py ADDRESS PORT TIMEOUT_S
"""

import socket
import sys
import time


def main(address: str, port: str, timeout_s: str) -> int:
    deadline = time.monotonic() + float(timeout_s)
    while True:
        try:
            socket.create_connection((address, int(port)), timeout=3).close()
        except OSError as error:
            if time.monotonic() > deadline:
                print(f"{address}:{port} after {timeout_s} s: {error}", file=sys.stderr)
                return 1
            time.sleep(0.5)
        else:
            return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
