"""Says how the container engine is set up for GPUs; standard library only.

Argument: {"container": name, "image": reference or ""}. Answers {"version", "configured",
"devices", "driver", "inside", "needs"}:
Docker's version, the sha256 of daemon.json that the running daemon was started with, the driver of
the CDI specification, the driver of the host, what the image needs of it, and whether the running container still has its
GPUs (true, false; null: it does not run). A systemctl daemon-reload can take them away from
containers whose devices systemd does not know (NVIDIA/nvidia-container-toolkit#48).
"""

import json
import re
import subprocess
import sys
from pathlib import Path


def said(*words: str) -> "str | None":
    """What a program prints; None for one that is missing, fails or hangs."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def text(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""


def found(pattern: str, path: str) -> str:
    match = re.search(pattern, text(path))
    return match[1] if match else ""


def inside(name: str) -> "bool | None":
    if said("docker", "inspect", "--format", "{{.State.Running}}", name) != "true":
        return None
    return bool(said("docker", "exec", name, "nvidia-smi", "--list-gpus"))


def needs(image: str) -> str:
    """The image's own NVIDIA_REQUIRE_CUDA; empty where it has none, or is not here."""
    variables = said("docker", "image", "inspect", "--format", "{{json .Config.Env}}", image)
    values = dict(one.split("=", 1) for one in json.loads(variables or "[]") or [])
    return str(values.get("NVIDIA_REQUIRE_CUDA", ""))


request = json.loads(sys.argv[1])
print(
    json.dumps(
        {
            "version": said("docker", "version", "--format", "{{.Server.Version}}") or "",
            "configured": text("/run/glmstead/docker.started").strip(),
            "devices": found(r"libcuda\.so\.(\d{3}[\d.]+)", "/etc/cdi/nvidia.yaml"),
            "driver": found(
                r"Module(?: for \S+)?\s+(\d{3}\.[\d.]+)", "/proc/driver/nvidia/version"
            ),
            "inside": inside(request["container"]),
            "needs": needs(request["image"]) if request["image"] else "",
        }
    )
)
