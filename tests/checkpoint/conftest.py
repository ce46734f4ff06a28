"""Checkpoints on disk: small, and one with the real model's layout."""

import hashlib
import json
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from glmstead import ROOT
from glmstead.checkpoint.listing import Entry, Folder, Listing, write_json
from tests.checkpoint.hub_client import hub_python
from tests.checkpoint.hub_server import Hub

__all__ = ["hub_python"]

Run = subprocess.CompletedProcess[str]
ORIGIN = "zai-org/GLM-5.2-FP8@70311cfa0158cce7dd2cf5d2e04f68e3fdc3efc1"


def git_id(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def entry(name: str, content: bytes) -> Entry:
    """What a hub says of a file: sha256 of large ones, git's id of the others."""
    if name.endswith(".safetensors"):
        return Entry(len(content), sha256=hashlib.sha256(content).hexdigest())
    return Entry(len(content), git=git_id(content))


def contents(shards: int = 4, size: int = 3000) -> dict[str, bytes]:
    """A small checkpoint: shards that differ, an index, a config."""
    names = [f"model-{n:05}-of-{shards:05}.safetensors" for n in range(1, shards + 1)]
    weight_map = {f"model.layers.{n}.weight": name for n, name in enumerate(names)}
    return {
        "config.json": b'{"architectures": ["GlmMoeDsaForCausalLM"]}\n',
        "model.safetensors.index.json": json.dumps({"weight_map": weight_map}).encode(),
        **{name: bytes([n % 251]) * size for n, name in enumerate(names, start=1)},
    }


def verify_words(folder: Folder) -> list[str]:
    """How a host verifies."""
    return [sys.executable, "-m", "glmstead.checkpoint", "verify", str(folder.root)]


@pytest.fixture
def checkpoint(tmp_path: Path) -> Folder:
    """A whole checkpoint of four shards, listed but not yet verified."""
    folder = Folder(tmp_path / "model")
    folder.root.mkdir()
    files = contents()
    for name, content in files.items():
        (folder.root / name).write_bytes(content)
    listing = Listing(ORIGIN, {name: entry(name, content) for name, content in files.items()})
    write_json(folder.listing, listing.document())
    return folder


@pytest.fixture
def verify() -> Callable[..., Run]:
    """Run the host's program as the host does."""

    def run(folder: Folder, *options: str) -> Run:
        words = [*verify_words(folder), *options]
        return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)

    return run


class Host:
    """A folder on a host, and the programs run on it as the deploy runs them."""

    def __init__(self, root: Path, python: Path) -> None:
        self.folder, self.python = Folder(root), python
        root.mkdir(parents=True, exist_ok=True)

    def request(self, hub: Hub | None, commit: str, **more: Any) -> dict[str, Any]:
        """What the deploy asks; ``more`` overrides."""
        own = {"python": str(self.python), "repo": "owner/model", "revision": commit}
        how = {"xet": False, "workers": 4, "stall_s": 20, "token_file": "/nonexistent"}
        said = {"hub": {**own, "endpoint": hub.url, **how} if hub else None}
        base = {"root": str(self.folder.root), "origin": f"owner/model@{commit}", "stall_s": 5}
        return {**base, **said, "copy": str(self.folder.root.parent / "model.sha256"), **more}

    def start(self, request: dict[str, Any]) -> subprocess.Popen[str]:
        """Start a run in a session of its own, as killable as on a host."""
        process = subprocess.Popen(
            [sys.executable, "-m", "glmstead.checkpoint", "place"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdin is not None
        process.stdin.write(json.dumps(request))
        process.stdin.close()
        process.stdin = None
        return process

    def place(self, request: dict[str, Any]) -> Run:
        """Run to the end."""
        process = self.start(request)
        output, errors = process.communicate(timeout=120)
        return subprocess.CompletedProcess([], process.returncode, output, errors)

    def holds(self, files: dict[str, bytes]) -> bool:
        """Whether the folder holds these files, no other, and a manifest."""
        root = self.folder.root
        paths = [path for path in root.rglob("*") if path.is_file()]
        names = {str(p.relative_to(root)) for p in paths if ".glmstead" not in p.parts}
        same = all((root / name).read_bytes() == content for name, content in files.items())
        return names == set(files) and same and self.folder.manifest.exists()


@pytest.fixture
def host(tmp_path: Path, hub_python: Path) -> Host:
    return Host(tmp_path / "host" / "model", hub_python)


@pytest.fixture
def hosts(tmp_path: Path, hub_python: Path) -> Callable[[int], list[Host]]:
    return lambda count: [Host(tmp_path / f"h{n}" / "model", hub_python) for n in range(count)]


@pytest.fixture
def lenders() -> Iterator[list[subprocess.Popen[str]]]:
    """The running shares, in the order they were started."""
    started: list[subprocess.Popen[str]] = []
    yield started
    for process in started:
        process.kill()
        process.wait()


@pytest.fixture
def lend(lenders: list[subprocess.Popen[str]]) -> Callable[..., str]:
    """Start a host's share; returns its address."""

    def start(host: Host, allow: str = "127.0.0.1") -> str:
        with socket.create_server(("127.0.0.1", 0)) as probe:
            port = probe.getsockname()[1]
        words = [sys.executable, "-m", "glmstead.checkpoint", "share", str(host.folder.root)]
        words += ["--bind", "127.0.0.1", "--port", str(port), "--allow", allow]
        process = subprocess.Popen(words, cwd=ROOT, text=True)
        lenders.append(process)
        while process.poll() is None:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
        return f"127.0.0.1:{port}"

    return start
