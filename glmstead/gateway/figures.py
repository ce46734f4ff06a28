"""The gateway's own figures in Prometheus' text format, on loopback only; standard library only.

A thread of its own serves them: it answers while the event loop is busy.
"""

import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

Send = Callable[[dict[str, Any]], Awaitable[None]]
BUCKETS_S = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)
NO_STATUS = 0  # the client left, or LiteLLM fell over, before an answer began


class Seen:
    """One request; ``status`` is HTTP's, ``first_s`` the time to the first byte of the body."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.status = NO_STATUS
        self.first_s: float | None = None

    def watching(self, send: Send) -> Send:
        """``send`` that notes what passes."""

        async def noting(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                self.status = message["status"]
            elif self.first_s is None and message.get("body"):
                self.first_s = time.monotonic() - self.began
            await send(message)

        return noting


class Figures:
    """Counts of requests that make the engine work."""

    def __init__(self) -> None:
        self.running = 0
        self.requests: Counter[tuple[str, int]] = Counter()
        self.buckets: Counter[float] = Counter()
        self.first_s = 0.0

    @contextmanager
    def request(self, kind: str) -> Iterator[Seen]:
        """Count one request of a kind, which is one of a few."""
        seen = Seen()
        self.running += 1
        try:
            yield seen
        finally:
            self.running -= 1
            self.requests[kind, seen.status] += 1
            if seen.status == 200 and seen.first_s is not None:
                self.first_s += seen.first_s
                self.buckets[next((b for b in BUCKETS_S if seen.first_s <= b), 0)] += 1

    def text(self) -> str:
        """All figures; seconds."""
        name = "glmstead_gateway"
        lines = [f"# TYPE {name}_requests_running gauge", f"{name}_requests_running {self.running}"]
        lines.append(f"# TYPE {name}_requests_total counter")
        for (kind, status), count in sorted(self.requests.copy().items()):
            lines.append(f'{name}_requests_total{{kind="{kind}",status="{status}"}} {count}')
        lines.append(f"# TYPE {name}_first_byte_seconds histogram")
        total = 0
        for bound in BUCKETS_S:
            total += self.buckets[bound]
            lines.append(f'{name}_first_byte_seconds_bucket{{le="{bound:g}"}} {total}')
        total += self.buckets[0]
        lines.append(f'{name}_first_byte_seconds_bucket{{le="+Inf"}} {total}')
        lines += [f"{name}_first_byte_seconds_sum {self.first_s:.6f}"]
        lines += [f"{name}_first_byte_seconds_count {total}"]
        return "".join(f"{line}\n" for line in lines)


def served(figures: Figures, port: int) -> ThreadingHTTPServer:
    """Serve figures on a port of loopback, for the life of this process; 0: a free one."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content = figures.text().encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing: a line every 15 s is noise in the journal."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    Thread(target=server.serve_forever, daemon=True).start()
    return server
