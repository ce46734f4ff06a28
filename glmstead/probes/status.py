"""Says how a host's units are, and on the head also what Ray holds and what the engine does.

Argument: {"units": [...], "ray": null or words, "engine": null or {"unit", "url", "gate"}}.
Answers {"units": {unit: {property: value}}, "ray": one line or null, "watch": {unit: state},
"engine": null or {"failed", "waiting", "asleep", "open", "metrics", "journal"}}. Ray is asked by
the program that vLLM waits with, in the environment of the engine, because it wants its token.
"""

import json
import shlex
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

PROPERTIES = "Id,LoadState,ActiveState,SubState,Result,NRestarts,StateChangeTimestamp,InvocationID"
METRICS = ("num_requests_running", "num_requests_waiting", "kv_cache_usage_perc")
LINES = 400


def units(names: "list[str]") -> "dict[str, dict[str, str]]":
    shown = subprocess.run(
        ["systemctl", "show", "-p", PROPERTIES, *(name + ".service" for name in names)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    blocks = [
        dict(line.split("=", 1) for line in b.splitlines()) for b in shown.strip().split("\n\n")
    ]
    return dict(zip(names, blocks, strict=True))


def environment(file: str) -> "dict[str, str]":
    try:
        text = Path(file).read_text()
    except OSError:
        return {}
    words = shlex.split(text, comments=True)
    return dict(word.split("=", 1) for word in words if "=" in word)


def ray(request: "dict[str, Any]") -> str:
    try:
        asked = subprocess.run(
            request["words"],
            env=environment(request["environment"]),
            capture_output=True,
            text=True,
            timeout=30,
        )
    except FileNotFoundError:
        return "not installed"
    except subprocess.TimeoutExpired:
        return "the head gave no answer in 30 s"
    except OSError as error:
        return f"cannot be asked: {error}"
    said = (asked.stderr if asked.returncode else asked.stdout).strip().splitlines()
    if not said or said[-1].startswith("["):  # Ray's own log, as it ends the process that asks
        return "the head does not answer"
    return said[-1].removeprefix("gave up after 0 s: ")


def document(path: Path) -> Any:
    """A JSON file of ours; None where there is none."""
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return None


def watch() -> "dict[str, Any]":
    """What the watch says of each unit it watches."""
    found = {
        path.stem: document(path) for path in Path("/run/glmstead/glmstead-watch").glob("*.json")
    }
    return {unit: said for unit, said in found.items() if said}


def metrics(url: str) -> "dict[str, float] | None":
    """Requests and cache use; None while the server does not answer."""
    try:
        with urllib.request.urlopen(f"{url}/metrics", timeout=3) as answer:
            lines = answer.read().decode().splitlines()
    except OSError:
        return None
    values = [(line.split("{")[0], line.split()[-1]) for line in lines if line[:5] == "vllm:"]
    return {name: sum(float(v) for n, v in values if n == f"vllm:{name}") for name in METRICS}


def journal(shown: "dict[str, str]", failed: "dict[str, Any]") -> "list[str]":
    """The last lines of a unit since its last start, or of the last that failed where it is off."""
    start = shown["InvocationID"]
    if shown["ActiveState"] in ("inactive", "failed"):
        start = failed.get("start") or start
    if not start:
        return []
    words = ["journalctl", "--no-pager", "-o", "cat", "-n", str(LINES)]
    words += [f"_SYSTEMD_INVOCATION_ID={start}"]
    return subprocess.run(words, capture_output=True, text=True, timeout=30).stdout.splitlines()


def engine(request: "dict[str, str]", shown: "dict[str, str]") -> "dict[str, Any]":
    folder = Path("/run/glmstead", request["unit"])
    waiting, failed = folder / "waiting", document(folder / "failed")
    return {
        "failed": failed,
        "waiting": waiting.read_text().strip() if waiting.exists() else None,
        "asleep": (folder / "asleep").exists(),
        "open": (Path(request["gate"]) / "open").exists(),
        "metrics": metrics(request["url"]),
        "journal": journal(shown, failed or {}),
    }


def main(wanted: "dict[str, Any]") -> None:
    shown, asks = units(wanted["units"]), wanted["engine"]
    found = {
        "units": shown,
        "ray": wanted["ray"] and ray(wanted["ray"]),
        "watch": watch(),
        "engine": asks and engine(asks, shown[asks["unit"]]),
    }
    print(json.dumps(found))


main(json.loads(sys.argv[1]))
