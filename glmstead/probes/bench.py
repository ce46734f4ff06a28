"""Runs ``vllm bench serve`` for one point after another, in the engine's own environment.

A request on stdin, one line: {"points": [{"words", "repeats"}], "key"}; one JSON line a point with
the results. Ends when stdin does: nobody waits for it then. The key goes into this process's
environment only, where vLLM's client looks for it.
"""

import argparse
import contextlib
import json
import os
import sys
from threading import Thread
from typing import Any


def results(main: Any, parser: Any, point: "dict[str, Any]") -> "list[dict[str, Any]]":
    """The results of a point's repeats, without the lists of every request."""
    found = []
    for _ in range(point["repeats"]):
        with contextlib.redirect_stdout(sys.stderr):
            result = main(parser.parse_args(point["words"]))
        found.append({k: v for k, v in result.items() if isinstance(v, (int, float, str))})
    return found


def end_with_stdin() -> None:
    while os.read(0, 4096):
        pass
    os._exit(1)


def run() -> None:
    request = json.loads(sys.stdin.readline())
    Thread(target=end_with_stdin, daemon=True).start()
    os.environ["OPENAI_API_KEY"] = request["key"]
    from vllm.benchmarks.serve import add_cli_args, main

    parser = argparse.ArgumentParser()
    add_cli_args(parser)
    for point in request["points"]:
        print(json.dumps(results(main, parser, point)), flush=True)


if __name__ == "__main__":
    run()
