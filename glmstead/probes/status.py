"""Says how units are and what Ray holds; argument: {"units": [...], "ray": null or words}.

Answers {"units": {unit: {property: value}}, "ray": one line, or null}. Ray is asked by the program
that vLLM waits with, in the environment of the engine, because Ray answers its own token only.
"""

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

PROPERTIES = "Id,LoadState,ActiveState,SubState,Result,NRestarts,StateChangeTimestamp"


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
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"cannot be asked: {error}"
    said = (asked.stderr if asked.returncode else asked.stdout).strip().splitlines()
    return said[-1] if said else "says nothing"


wanted = json.loads(sys.argv[1])
print(json.dumps({"units": units(wanted["units"]), "ray": wanted["ray"] and ray(wanted["ray"])}))
