"""kill -9 at any moment: the next run finishes, and only the part in flight may come twice."""

import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from glmstead import ROOT
from tests.checkpoint.conftest import Host, contents, verify_words
from tests.checkpoint.hub_server import Hub

COMMIT = "a" * 40
SHARDS, SIZE = 8, 400_000
FILES = contents(SHARDS, SIZE)
WORKERS = 4


def kill_at(process: subprocess.Popen[str], seconds: float) -> bool:
    """Kill after so many seconds; False where it had ended by itself."""
    try:
        process.wait(timeout=seconds)
        return False
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.wait()
        return True
    finally:
        for stream in (process.stdout, process.stderr):
            if stream:
                stream.close()


@pytest.mark.parametrize("seed", range(12))
def test_a_fetch_survives_a_kill(seed: int, host: Host) -> None:
    chance = random.Random(seed)
    hub = Hub({COMMIT: FILES})
    hub.bytes_per_s = 1_000_000
    request = host.request(hub, COMMIT)
    killed = kill_at(host.start(request), chance.uniform(0.3, 3.5))
    hub.bytes_per_s = None
    run = host.place(request)

    assert run.returncode == 0, run.stdout + run.stderr
    assert host.holds(FILES)
    # a killed client loses what it has not written yet, of the files in flight
    twice = hub.total - sum(len(content) for content in FILES.values())
    assert 0 <= twice <= (WORKERS * SIZE if killed else 0)


@pytest.mark.parametrize("seed", range(10))
def test_a_copy_from_a_peer_survives_a_kill(
    seed: int, hosts: Callable[[int], list[Host]], lend: Callable[[Host], str]
) -> None:
    chance = random.Random(100 + seed)
    source, target = hosts(2)
    local = stocked(source, FILES)
    request = target.request(None, COMMIT, origin=local, peers=[lend(source)], part=None, streams=2)
    kill_at(target.start(request), chance.uniform(0.1, 1.2))
    had = sorted(path.name for path in target.folder.root.glob("*.safetensors"))
    run = target.place(request)

    assert run.returncode == 0, run.stdout + run.stderr
    assert target.holds(FILES)
    assert target.folder.manifest.read_text() == source.folder.manifest.read_text()
    assert all(f"{name}: " not in run.stdout for name in had)


@pytest.mark.parametrize("seed", range(10))
def test_a_verification_survives_a_kill(seed: int, host: Host) -> None:
    chance = random.Random(200 + seed)
    big = {name: content * 40 for name, content in FILES.items()}
    stocked(host, big)
    host.folder.verified.unlink()
    words = verify_words(host.folder)
    process = subprocess.Popen(
        words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    kill_at(process, chance.uniform(0.05, 0.8))
    run = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)

    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines()[-1].endswith(": 10 of 10 files, 128 MB")


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
    while not hub.total and process.poll() is None:
        time.sleep(0.05)
    kill_at(process, 0)
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
