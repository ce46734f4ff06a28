"""Wheels of the lab's locked requirements: downloaded once, seen by every host at /srv/wheels."""

import hashlib
import os
import platform
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from glmstead import ROOT
from glmstead.lab.config import LabConfig, LabError
from glmstead.lab.lock import in_turn
from glmstead.lab.process import dying_with_us, last_line, remove_tree
from glmstead.lab.progress import Progress

LOCKS = ("uv", "gateway", "lab")
PYTHON = "3.11"
GLIBC_MINORS = range(36, 16, -1)  # what the hosts' glibc 2.36 can load, newest first
TORCH_CPU_INDEX = "https://download.pytorch.org/whl/cpu"
DOWNLOAD_TIMEOUT_S = 3600


def ensure_wheels(config: LabConfig) -> None:
    """Have all wheels of all locks; a lock that is complete costs nothing."""
    config.wheels.mkdir(parents=True, exist_ok=True)
    with in_turn(config.wheels / ".lock"):
        for lock in LOCKS:
            ensure_lock(config, ROOT / "files/locks" / f"{lock}.txt")


def ensure_lock(config: LabConfig, path: Path) -> None:
    """Have all wheels of one lock; a marker says so."""
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    marker = config.wheels / f".{path.stem}.complete"
    if marker.exists() and marker.read_text() == digest:
        return
    with Progress(f"Downloading wheels of {path.name}") as progress:
        download(config, path, progress)
    marker.write_text(digest)


def download(config: LabConfig, lock: Path, progress: Progress) -> None:
    """Download one lock; raises LabError with pip's last words."""
    partial = config.cache / "wheels.partial"  # pip moves wheels into place at the very end
    remove_tree(partial)
    partial.mkdir()
    log = partial / "pip.log"
    with log.open("w") as output:
        process = subprocess.Popen(
            dying_with_us(pip_command(lock, config.wheels, os.environ, platform.machine())),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd="/",
            env={**os.environ, "TMPDIR": str(partial)},
        )
    deadline = time.monotonic() + DOWNLOAD_TIMEOUT_S
    while process.poll() is None and time.monotonic() < deadline:
        progress.update(how_far(config.wheels, partial))
        time.sleep(0.2)
    if process.poll() is None:
        process.kill()
        raise LabError(f"{lock.name}: no end after {DOWNLOAD_TIMEOUT_S} s, run `lab up` again")
    if process.returncode:
        raise LabError(f"{lock.name}: {last_line(errors(log.read_text()))}")
    remove_tree(partial)


def pip_command(lock: Path, target: Path, env: Mapping[str, str], machine: str) -> list[str]:
    """Command line of pip for wheels of the hosts' Python and architecture."""
    platforms = [f"manylinux_2_{minor}_{machine}" for minor in GLIBC_MINORS]
    platforms += [f"manylinux2014_{machine}", f"linux_{machine}"]
    links = env.get("GLMSTEAD_FIND_LINKS") or env.get("PIP_FIND_LINKS")
    source = ["--find-links", links] if links else ["--extra-index-url", TORCH_CPU_INDEX]
    return [
        *(sys.executable, "-m", "pip", "download"),
        *("--disable-pip-version-check", "--progress-bar=off"),
        *("--require-hashes", "--no-deps", "--only-binary=:all:", "--python-version", PYTHON),
        *(word for platform in platforms for word in ("--platform", platform)),
        *(*source, "--find-links", str(target), "--dest", str(target), "-r", str(lock)),
    ]


def how_far(*directories: Path) -> str:
    """Wheels and megabytes so far."""
    sizes = []
    for directory in directories:
        for folder, _, names in os.walk(directory):  # unlike a glob, it survives what pip removes
            for name in names:
                try:
                    sizes += [Path(folder, name).stat().st_size] if name.endswith(".whl") else []
                except FileNotFoundError:  # moved meanwhile
                    continue
    return f"{len(sizes)} files, {sum(sizes) / 1e6:.0f} MB"


def errors(log: str) -> str:
    """pip's error lines, or all it said."""
    found = [line for line in log.splitlines() if line.startswith("ERROR")]
    return found[-1] if found else log
