#!/usr/bin/env python3
"""Stands in for the b12x image's vLLM: same entry, same readiness contract, no GPU.

It refuses what the real one fails with, and tells at /seen what it was started with.
"""

import json
import os
import signal
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

WORDS = sys.argv[1:]


def value(flag: str) -> str | None:
    return WORDS[WORDS.index(flag) + 1] if flag in WORDS else None


def refuse(reason: str) -> None:
    print("\n".join(f"loading {number}" for number in range(60)), flush=True)
    sys.exit(f"ERROR {reason}")


def seen() -> dict[str, object]:
    template = value("--chat-template")
    return {
        "words": WORDS,
        "environment": dict(os.environ),
        "template": Path(template).read_text() if template else None,
        "version": os.environ.get("STAND_IN_VERSION"),
    }


class Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        known = {"/health": {}, "/seen": seen()}
        text = "vllm:num_requests_running 0.0\nvllm:num_requests_waiting 0.0\n"
        if self.path == "/metrics":
            self.say(text)
        elif self.path in known:
            self.say(json.dumps(known[self.path]))
        else:
            self.send_error(404)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        message = {"role": "assistant", "content": "READY"}
        self.say(json.dumps({"choices": [{"index": 0, "message": message}]}))

    def say(self, text: str) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        pass


if WORDS[0] != "serve" or not Path(WORDS[1], "config.json").is_file():
    refuse(f"no model at {WORDS[1:2]}")
if os.environ.get("NCCL_GRAPH_FILE") == "":
    refuse("NCCL: unhandled system error")
if os.environ.get("STAND_IN_FAILS"):
    refuse("CUDA out of memory")
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # first process: else it is ignored
time.sleep(1)
print("Application startup complete.", flush=True)
ThreadingHTTPServer((str(value("--host")), int(str(value("--port")))), Answers).serve_forever()
