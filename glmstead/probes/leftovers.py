"""Says what routes have put on this host that another kind of engine would leave behind.

Argument: {"units": [...], "paths": [...], "unit_folder", "server_unit", "images": file
that lists image references, "overlay": file that lists paths or null, "container": name}. Answers which units are known, which paths exist, which images were placed, and whether
a container of ours exists.
"""

import json
import subprocess
import sys
from pathlib import Path

DOCKER = "/usr/bin/docker"


def containers(name: str) -> "list[str]":
    """Ids of containers of this name; none where Docker is absent or down."""
    words = [DOCKER, "ps", "--all", "--quiet", "--filter", "name=^/" + name + "$"]
    try:
        run = subprocess.run(words, capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return run.stdout.split() if run.returncode == 0 else []


def placed(listing: str) -> "list[str]":
    try:
        return Path(listing).read_text().split()
    except OSError:
        return []


def container_unit(path: str) -> bool:
    try:
        text = Path(path).read_text()
    except OSError:
        return False
    return any(f'ExecStart="/usr/bin/{one}"' in text for one in ("docker", "apptainer"))


def overlay(listing: "str | None") -> "list[str]":
    """Files of an overlay that is no longer declared, and their list."""
    try:
        files = json.loads(Path(listing).read_text()) if listing else []
    except (OSError, ValueError):
        return []
    return [*files, listing]


request = json.loads(sys.argv[1])
print(
    json.dumps(
        {
            "units": [
                unit for unit in request["units"] if Path(request["unit_folder"], unit).exists()
            ],
            "paths": [
                path
                for path in (*request["paths"], *overlay(request["overlay"]))
                if path and Path(path).exists()
            ],
            "images": placed(request["images"]),
            "containers": containers(request["container"]),
            "in_container": container_unit(request["server_unit"]),
        }
    )
)
