"""What the watch looks at: counters, an answer, units, compilers, Ray's opinion; each bounded."""

import json
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from glmstead.watch.evidence import environment, text_of
from glmstead.watch.liveness import Look

COUNTERS = ("vllm:iteration_tokens_total_count", "vllm:generation_tokens_total")
UNFINISHED = ("vllm:num_requests_running", "vllm:num_requests_waiting")
COMPILERS = {"nvcc", "cicc", "ptxas", "ninja", "cc1plus", "g++"}


def properties(unit: str) -> dict[str, str]:
    """State of a unit, and the start it belongs to; empty where systemd does not say."""
    names = "ActiveState,InvocationID,Result"
    words = ["systemctl", "show", "-p", names, f"{unit}.service"]
    try:
        shown = subprocess.run(words, capture_output=True, text=True, timeout=30).stdout
    except subprocess.TimeoutExpired:  # systemd is busy
        return {}
    return dict(line.split("=", 1) for line in shown.splitlines() if "=" in line)


def look(url: str, timeout_s: float) -> Look:
    """Read the server's counters."""
    try:
        with urllib.request.urlopen(f"{url}/metrics", timeout=timeout_s) as answer:
            lines = answer.read().decode().splitlines()
    except OSError:
        return Look(time.monotonic(), None)
    values = [(line.split("{")[0], line.split()[-1]) for line in lines if line[:1] != "#"]
    counter = sum(float(value) for name, value in values if name in COUNTERS)
    return Look(time.monotonic(), counter, sum(float(v) for n, v in values if n in UNFINISHED))


def answer(url: str, model: str, timeout_s: float, key: str = "") -> str:
    """Ask for one token: "answered", "closed" (the gate) or why there is no answer."""
    body = {"model": model, "max_tokens": 1, "messages": [{"role": "user", "content": "Hello"}]}
    headers = {
        "Content-Type": "application/json",
        "Authorization": f"Bearer {key}",
        "X-Glmstead-Watch": "1",  # not counted as use
    }
    request = urllib.request.Request(
        f"{url}/v1/chat/completions", json.dumps(body).encode(), headers
    )
    try:
        urllib.request.urlopen(request, timeout=timeout_s).close()
    except urllib.error.HTTPError as error:
        return "closed" if error.code == 503 else f"HTTP {error.code}"
    except OSError as error:
        return str(error)
    return "answered"


def gateway_key(path: str) -> str:
    """Value of the environment file's one line; empty without the file."""
    file = Path(path)
    return file.read_text().partition("=")[2].strip() if file.exists() else ""


def compiling() -> bool:
    """Whether a compiler runs in the control group of one of our units."""
    groups = Path("/sys/fs/cgroup")
    containers = groups.rglob("glmstead-engine.slice/docker-*.scope/cgroup.procs")
    for group in (*groups.rglob("glmstead-*.service/cgroup.procs"), *containers):
        for pid in text_of(group).split():
            if text_of(Path("/proc", pid, "comm")).strip() in COMPILERS:
                return True
    return False


def is_ray_member(config: dict[str, Any]) -> bool | None:
    """Whether Ray's head counts this host in; None when the head cannot be asked.

    A raylet that hangs keeps its unit running while the head has long given it up.
    """
    env = environment(config["environment"])
    try:
        done = subprocess.run(config["ray"], env=env, capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode and f"{config['address']} has not joined" not in done.stderr:
        return None
    return not done.returncode
