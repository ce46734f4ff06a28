"""kill -9 at any moment: the next run finishes, and only the part in flight may come twice."""

import os
import random
import shutil
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from glmstead import ROOT
from glmstead.checkpoint.listing import read_json
from tests.checkpoint.conftest import Host, contents, verify_words
from tests.checkpoint.hub_server import Hub

COMMIT = "a" * 40
SHARDS, SIZE = 8, 400_000
FILES = contents(SHARDS, SIZE)
TOTAL = sum(len(content) for content in FILES.values())
LARGE = {name: content * 40 for name, content in FILES.items()}
WORKERS = 4


def kill_when(process: subprocess.Popen[Any], reached: Callable[[], bool]) -> bool:
    """Kill as soon as it has come so far; False where it had ended by itself."""
    while process.poll() is None and not reached():
        time.sleep(0.01)
    killed = process.poll() is None
    process.kill()
    process.wait()
    for stream in (process.stdout, process.stderr):
        if stream:
            stream.close()
    return killed


def size_of(root: Path) -> int:
    """Bytes in a folder that another process is working in."""
    count = 0
    for path in root.rglob("*"):
        with suppress(OSError):
            count += path.stat().st_size if path.is_file() else 0
    return count


@pytest.mark.parametrize("seed", range(12))
def test_a_fetch_survives_a_kill(seed: int, host: Host) -> None:
    chance = random.Random(seed)
    hub = Hub({COMMIT: FILES})
    hub.bytes_per_s = 1_000_000
    request = host.request(hub, COMMIT)
    point = chance.uniform(-0.1, 1) * TOTAL
    killed = kill_when(host.start(request), lambda: hub.total >= point)
    hub.bytes_per_s = None
    run = host.place(request)

    assert run.returncode == 0, run.stdout + run.stderr
    assert host.holds(FILES)
    # a killed client loses what it has not written yet, of the files in flight
    assert 0 <= hub.total - TOTAL <= (WORKERS * SIZE if killed else 0)


@pytest.mark.parametrize("seed", range(10))
def test_a_copy_from_a_peer_survives_a_kill(
    seed: int, hosts: Callable[[int], list[Host]], lend: Callable[[Host], str]
) -> None:
    chance = random.Random(100 + seed)
    source, target = hosts(2)
    local = stocked(source, LARGE)
    request = target.request(None, COMMIT, origin=local, peers=[lend(source)], part=None, streams=2)
    point = chance.uniform(-0.1, 1) * sum(len(content) for content in LARGE.values())
    kill_when(target.start(request), lambda: size_of(target.folder.root) >= point)
    had = sorted(path.name for path in target.folder.root.glob("*.safetensors"))
    run = target.place(request)

    assert run.returncode == 0, run.stdout + run.stderr
    assert target.holds(LARGE)
    assert target.folder.manifest.read_text() == source.folder.manifest.read_text()
    assert all(f"{name}: " not in run.stdout for name in had)


@pytest.mark.parametrize("seed", range(10))
def test_a_verification_survives_a_kill(seed: int, host: Host) -> None:
    chance = random.Random(200 + seed)
    stocked(host, LARGE)
    host.folder.verified.unlink()
    words = verify_words(host.folder)
    process = subprocess.Popen(
        words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    known = chance.randint(0, len(LARGE) - 1)
    kill_when(process, lambda: len(read_json(host.folder.verified)) >= known)
    kept = read_json(host.folder.verified)
    run = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)

    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines()[-1].endswith(": 10 of 10 files, 128 MB")
    assert len(kept) >= known
    assert kept.items() <= read_json(host.folder.verified).items()


def stocked(host: Host, files: dict[str, bytes]) -> str:
    """Give a host a checkpoint from a folder of its own; returns its origin."""
    source = host.folder.root.parent / "source"
    source.mkdir()
    for name, content in files.items():
        (source / name).write_bytes(content)
    run = host.place(host.request(None, COMMIT, origin="folder", local=str(source)))
    assert run.returncode == 0, run.stdout + run.stderr
    shutil.rmtree(source)
    return "folder"


def test_a_client_never_outlives_who_started_it(host: Host, tmp_path: Path) -> None:
    hub = Hub({COMMIT: FILES})
    hub.bytes_per_s = 50_000
    process = host.start(host.request(hub, COMMIT))
    kill_when(process, lambda: hub.total > 0)
    deadline = time.monotonic() + 5
    while clients(host) and time.monotonic() < deadline:
        time.sleep(0.05)

    assert clients(host) == []


def clients(host: Host) -> list[str]:
    """Processes of the hub's client that still run for this host."""
    lines = os.popen("ps -ww -eo args").read().splitlines()
    return [line for line in lines if str(host.python) in line and "checkpoint.hub" in line]


def test_two_runs_at_once_take_turns(host: Host) -> None:
    hub = Hub({COMMIT: FILES})
    request = host.request(hub, COMMIT)
    first, second = host.start(request), host.start(request)
    ends = [process.wait(timeout=90) for process in (first, second)]

    assert ends == [0, 0]
    assert host.holds(FILES)
    assert hub.total == sum(len(content) for content in FILES.values())
