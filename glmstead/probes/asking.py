"""How a probe asks: programs within a time limit, files below a root; standard library only."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

request = json.loads(sys.argv[1])


def asked(*words: str, keep: str = "", **how: Any) -> "dict[str, str | int]":
    """Answer of a program; a hanging one is left behind, since a task in D state cannot die."""
    try:
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
            **how,
        )
    except (OSError, KeyError) as error:
        return {"status": "missing", "text": "", "error": str(error)}
    try:
        out, err = process.communicate(timeout=request["seconds"])
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        return {"status": "hung", "text": "", "error": f"no answer in {request['seconds']} s"}
    if keep:
        out = "\n".join(line for line in out.splitlines() if re.search(keep, line))
    status = "failed" if process.returncode else "ok"
    return {"status": status, "text": out, "error": err.strip()}


def inside(path: str) -> Path:
    """A path of the host, below ``root``; one that is there already stays as it is."""
    root = request["root"]
    return Path(path) if path.startswith(root.rstrip("/") + "/") else Path(root, path)


def text(path: str) -> str:
    try:
        return inside(path).read_text(errors="replace")
    except OSError:
        return ""
