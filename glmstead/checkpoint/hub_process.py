"""Starts and stops the hub's client, and lends it no secret but the name of a file."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

from glmstead.checkpoint.listing import STATE, CheckpointError, Entry, Folder

_PACKAGES = Path(__file__).resolve().parents[2]  # where this package itself is found
_SMALL_GB = 64  # hf_xet took 6.6 GB and 7 processors at full speed: unslothai/unsloth-zoo#972
_LISTING_S = 30.0
_FIX_OF_NETWORK = "check the network and model_endpoint, then deploy again"
_FIXES = (
    (("Gated", "401 C", "401 U", "403 F"), "give a token that may read it, GLMSTEAD_HUB_TOKEN"),
    (
        ("NotFound", "404 C", "404 N"),
        "check model_repo, model_revision and model_endpoint; a private one needs a token, "
        "GLMSTEAD_HUB_TOKEN",
    ),
)
XET_CAP = {
    "HF_XET_CLIENT_AC_MAX_DOWNLOAD_CONCURRENCY": "8",
    "HF_XET_RECONSTRUCTION_DOWNLOAD_BUFFER_SIZE": "512mb",
    "HF_XET_RECONSTRUCTION_DOWNLOAD_BUFFER_LIMIT": "1gb",
}


@dataclass(frozen=True)
class Hub:
    """A repository at a commit, and how to reach it; ``stall_s`` without a byte is a stall."""

    python: str
    repo: str
    revision: str
    endpoint: str | None
    token_file: str
    xet: bool
    workers: int
    stall_s: float

    @property
    def origin(self) -> str:
        """Where the files come from, as the manifest says."""
        return f"{self.repo}@{self.revision}"

    def request(self) -> str:
        """First line for the client."""
        fields = ("repo", "revision", "endpoint", "token_file", "workers")
        return json.dumps({name: getattr(self, name) for name in fields}) + "\n"

    def environment(self, folder: Folder, xet: bool) -> dict[str, str]:
        """The client's environment: caches inside our folder, no telemetry, bounded waits."""
        own = {
            "PYTHONPATH": str(_PACKAGES),
            "PYTHONDONTWRITEBYTECODE": "1",
            "HF_HOME": str(folder.root / STATE / "hub"),
            "HF_HUB_DISABLE_PROGRESS_BARS": "1",
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "HF_HUB_DISABLE_XET": "0" if xet else "1",
            "HF_HUB_DOWNLOAD_TIMEOUT": str(ceil(self.stall_s)),
            "HF_HUB_ETAG_TIMEOUT": str(ceil(self.stall_s)),
            "HF_HUB_VERBOSITY": "error",
        }
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("HF_", "HUGGING_FACE_"))}
        return {**kept, **(XET_CAP if _memory_gb() < _SMALL_GB else {}), **own}


def list_files(hub: Hub, folder: Folder) -> dict[str, Entry]:
    """Return what the hub says the revision holds; raises CheckpointError with its own words."""
    limit_s = _LISTING_S + 4 * hub.stall_s  # the client itself waits for ever
    try:
        done = subprocess.run(
            [hub.python, "-m", "glmstead.checkpoint.hub", "list"],
            input=hub.request(),
            env=hub.environment(folder, xet=False),
            capture_output=True,
            text=True,
            check=False,
            timeout=limit_s,
        )
    except subprocess.TimeoutExpired as error:
        said = f"{hub.origin}: the hub lists no files within {limit_s:g} s"
        raise CheckpointError(f"{said}; fix: {_FIX_OF_NETWORK}") from error
    lines = done.stdout.splitlines()
    nothing = {"error": " ".join(done.stderr.split())[-300:]}
    answer: dict[str, Any] = json.loads(lines[-1]) if lines else nothing
    if "error" in answer:
        fix = fix_for(answer["error"], _FIX_OF_NETWORK)
        raise CheckpointError(f"{hub.origin}: {answer['error']}; fix: {fix}")
    return {name: Entry(**entry) for name, entry in answer["files"].items()}


def fix_for(error: str, otherwise: str) -> str:
    """Return what to do about an error in the client's words."""
    return next((fix for said, fix in _FIXES if any(one in error for one in said)), otherwise)


class HubProcess:
    """A running client; ``report`` hears (name, error or None) of each file, from a thread."""

    def __init__(
        self,
        hub: Hub,
        folder: Folder,
        xet: bool,
        report: Callable[[str, str | None], None],
        keep: tuple[int, ...] = (),
    ) -> None:
        self.ready = False
        self._process = subprocess.Popen(
            [hub.python, "-m", "glmstead.checkpoint.hub", "get"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=hub.environment(folder, xet),
            text=True,
            bufsize=1,
            pass_fds=keep,
        )
        self._report = report
        self._write(hub.request())
        threading.Thread(target=self._listen, daemon=True).start()

    def get(self, name: str, entry: Entry, part: Path) -> None:
        """Ask for a file."""
        file = {"name": name, "key": entry.key, "size": entry.size, "part": str(part)}
        self._write(json.dumps(file) + "\n")

    def alive(self) -> bool:
        """Whether it still runs."""
        return self._process.poll() is None

    def stop(self) -> None:
        """End it at once, whatever it does; what it has fetched so far stays."""
        self._process.kill()
        self._process.wait()

    def _write(self, line: str) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line)
        except OSError:
            return  # it has died: alive() says so

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            try:
                answer: dict[str, Any] = json.loads(line)
            except ValueError:
                continue
            self.ready = True
            if "name" in answer:
                self._report(answer["name"], answer.get("error"))


def _memory_gb() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
