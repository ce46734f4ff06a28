"""The hub's client of the engine's lock, in an environment of its own."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from glmstead.lock import lock_path, pins

PACKAGES = ("huggingface-hub", "hf-xet")


@pytest.fixture(scope="session")
def hub_python(request: pytest.FixtureRequest) -> Path:
    """A Python with the very huggingface_hub that the engine's lock pins; made once, then kept."""
    locked = pins(lock_path("lab").read_text(), "3.11")
    wanted = [f"{name}=={locked[name]}" for name in PACKAGES]
    root = request.config.cache.mkdir("hub-" + "-".join(locked[name] for name in PACKAGES))
    python = root / "bin" / "python"
    uv = str(Path(sys.executable).with_name("uv"))
    ready = root / "ready"
    with root.with_name(f"{root.name}.turns").open("w") as turns:
        fcntl.flock(turns, fcntl.LOCK_EX)  # tests run in several processes
        if not ready.exists():
            wheels = Path(os.environ.get("GLMSTEAD_CACHE", "/var/cache/glmstead-lab")) / "wheels"
            links = ["--find-links", str(wheels)] if wheels.is_dir() else []
            subprocess.run([uv, "venv", "--quiet", "--clear", str(root)], check=True)
            install = [uv, "pip", "install", "--quiet", "--compile-bytecode"]
            subprocess.run([*install, "--python", str(python), *links, *wanted], check=True)
            ready.touch()
    return python
