"""Says what Docker holds; argument: {"references": [...], "container": name}.

Answers {"daemon": whether it answers, "images": {reference: id or null}, "running": image of the
container or null}.
"""

import json
import subprocess
import sys

DOCKER = "/usr/bin/docker"


def docker(*words: str) -> "str | None":
    """Its answer; None where it fails or is not installed."""
    try:
        run = subprocess.run([DOCKER, *words], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return run.stdout.strip() if run.returncode == 0 else None


request = json.loads(sys.argv[1])
daemon = docker("info", "--format", "{{.ID}}") is not None
image_of = ("image", "inspect", "--format", "{{.Id}}")
running = ("container", "inspect", "--format", "{{.Config.Image}}", request["container"])
print(
    json.dumps(
        {
            "daemon": daemon,
            "images": {
                one: docker(*image_of, one) if daemon else None for one in request["references"]
            },
            "running": docker(*running) if daemon else None,
        }
    )
)
