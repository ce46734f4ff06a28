"""Waits, bounded, until a server has answered; run as ExecStartPost, so that started means answered.

Usage: wait_answer.py URL TIMEOUT_S [MODEL]: polls URL/health, or URL itself without MODEL; then
asks MODEL for one token. Ends at once when $MAINPID, the server, is gone. Asked to stop meanwhile, or
out of time, it kills the server of MODEL: vLLM hears no SIGTERM before it is ready, and has nothing
to finish.
"""

import json
import os
import signal
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path


def server_runs() -> bool:
    pid = os.environ.get("MAINPID")
    return pid is None or Path("/proc", pid).exists()


def end_server(*_: object) -> None:
    os.kill(int(os.environ["MAINPID"]), signal.SIGKILL)
    sys.exit(1)


def healthy(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def first_token(url: str, model: str, timeout_s: float) -> None:
    """Ask for one token; raises OSError when the server refuses or dies."""
    body = {
        "model": model,
        "messages": [{"role": "user", "content": "Hello"}],
        "max_tokens": 1,
        "temperature": 0,
    }
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(
        f"{url}/v1/chat/completions", json.dumps(body).encode(), headers
    )
    urllib.request.urlopen(request, timeout=timeout_s).close()


def main(url: str, timeout_s: str, model: str = "") -> int:
    ends_it = bool(model) and "MAINPID" in os.environ
    if ends_it:
        signal.signal(signal.SIGTERM, end_server)
    started = time.monotonic()
    deadline = started + float(timeout_s)
    while not healthy(f"{url}/health" if model else url):
        if not server_runs():
            print("the server ended before it was ready", file=sys.stderr)
            return 1
        if time.monotonic() > deadline:
            print(f"not ready after {timeout_s} s", file=sys.stderr)
            if ends_it:
                end_server()
            return 1
        time.sleep(0.25)
    ready = time.monotonic()
    if model:
        try:
            first_token(url, model, max(1.0, deadline - ready))
        except OSError as error:
            print(f"healthy, but no first token: {error}", file=sys.stderr)
            return 1
    now = time.monotonic()
    print(f"ready in {ready - started:.1f} s, first token {now - ready:.1f} s later", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
