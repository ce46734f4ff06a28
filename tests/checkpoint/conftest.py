"""Checkpoints on disk: small, and one with the real model's layout."""

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from glmstead import ROOT
from glmstead.checkpoint.listing import Entry, Folder, Listing, write_json

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
        words = [sys.executable, "-m", "glmstead.checkpoint", "verify", str(folder.root), *options]
        return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)

    return run
