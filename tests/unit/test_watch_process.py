"""The watch as the process it is, with a server that hangs and a systemctl of its own."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread

import pytest

from glmstead import ROOT
from glmstead.watch import evidence
from glmstead.watch.looks import compiling
from glmstead.watch.main import Watch, watch_member

VLLM, GATEWAY = "glmstead-vllm", "glmstead-gateway"
Started = Callable[..., Path]


class Server:
    """vLLM and gateway in one: its counter stands still, and it answers while it may."""

    def __init__(self) -> None:
        self.answers, self.over, self.mute = True, Event(), False
        self.asked: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked.append("counters")
                if outer.mute:
                    outer.over.wait(20)
                self._say(b'vllm:num_requests_running{engine="0"} 1.0\n')

            def do_POST(self) -> None:
                outer.asked.append("question")
                if not outer.answers:
                    outer.over.wait(20)
                self._say(b"{}")

            def _say(self, content: bytes) -> None:
                self.send_response(200)
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        Thread(target=self.http.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.http.server_port}"


def figures(folder: Path) -> dict[str, object]:
    """Configuration of a route with GPUs and one patch, which is not in its file."""
    (folder / "patched.py").write_text("x = 1\n")
    entry = {"file": str(folder / "patched.py"), "sha256": "0" * 64}
    (folder / "patches.json").write_text(json.dumps({"ABORT_RACE_FIX": [entry]}))
    file, patches = str(folder / "glmstead.prom"), str(folder / "patches.json")
    numbers = {"interval_s": 0.1, "failed_starts": 5, "gpus": 8}
    return {"file": file, "patches": patches, **numbers}


@pytest.fixture
def server() -> Iterator[Server]:
    found = Server()
    yield found
    found.over.set()
    found.http.shutdown()


@pytest.fixture
def watch(tmp_path: Path, server: Server) -> Iterator[Callable[[], None]]:
    """Start the watch, until the end of the test."""
    fake = tmp_path / "bin" / "systemctl"
    fake.parent.mkdir()
    fake.write_text(
        "#!/bin/sh\ncase $1 in\n"
        "    show) printf 'ActiveState=active\\nInvocationID=1\\nResult=success\\n' ;;\n"
        f'    *) echo "$@ $(ls {tmp_path}/evidence)" >>{tmp_path}/calls ;;\nesac\n'
    )
    fake.chmod(0o755)
    smi = fake.with_name("nvidia-smi")
    smi.write_text(
        "#!/bin/sh\necho Failed to initialize NVML: Driver/library version mismatch\nexit 18\n"
    )
    smi.chmod(0o755)
    limits = {"idle_ask_s": 60, "failures": 2, "compile_s": 0, "restarts": 1, "window_s": 3600}
    config = {
        **{"watched": [VLLM, GATEWAY], "units": [VLLM], "interval_s": 0.1, "answer_s": 0.3},
        **{"limits": limits, "url": server.url, "gateway_url": server.url, "model": "glm-5.2"},
        **{"key_file": "/nonexistent", "address": "10.0.0.1", "ray": ["true"], "idle": None},
        **{"environment": "/nonexistent", "evidence": f"{tmp_path}/evidence", "py_spy": "true"},
        "figures": figures(tmp_path),
    }
    (tmp_path / "watch.json").write_text(json.dumps(config))
    words = [sys.executable, "-m", "glmstead.watch.main", str(tmp_path / "watch.json")]
    processes: list[subprocess.Popen[bytes]] = []

    def start() -> None:
        path = f"{fake.parent}:{os.environ['PATH']}"
        env = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}
        processes.append(subprocess.Popen([*words, str(tmp_path)], env=env))

    yield start
    for process in processes:
        process.kill()
        process.wait()


def said(folder: Path) -> str:
    path = folder / f"{VLLM}.json"
    return str(json.loads(path.read_text()).get("state", "")) if path.exists() else ""


def until(condition: Callable[[], bool], bound_s: float = 60) -> None:
    deadline = time.monotonic() + bound_s
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_an_engine_that_answers_is_left_alone(
    watch: Callable[[], None], server: Server, tmp_path: Path
) -> None:
    watch()
    until(lambda: said(tmp_path) == "alive: it answered")

    assert not (tmp_path / "calls").exists()


def test_a_hang_is_killed_after_evidence_was_saved_and_only_so_often(
    watch: Callable[[], None], server: Server, tmp_path: Path
) -> None:
    server.answers = False
    watch()
    until(lambda: said(tmp_path).startswith("gave up"))
    (call,) = (tmp_path / "calls").read_text().splitlines()
    (evidence,) = (tmp_path / "evidence").iterdir()

    assert call == f"kill --signal=KILL {VLLM}.service {evidence.name}"
    assert evidence.name.endswith("-glmstead-vllm-no-progress-and-no-answer")
    assert "num_requests_running" in (evidence / "metrics.txt").read_text()
    assert said(tmp_path) == ("gave up: 1 restarts in 1 h did not help, no progress and no answer")


def test_a_server_that_says_nothing_is_found_out_in_two_waits_a_look(
    watch: Callable[[], None], server: Server, tmp_path: Path
) -> None:
    """A client waits 120 s: an API server that hangs has to be gone before that."""
    server.answers, server.mute = False, True
    watch()
    until(lambda: said(tmp_path).startswith("restarted"))

    assert server.asked[:4] == ["counters", "question"] * 2


def test_evidence_that_cannot_be_saved_keeps_nobody_from_healing(
    watch: Callable[[], None], server: Server, tmp_path: Path
) -> None:
    """As on a full disk, which may be why the engine hangs."""
    (tmp_path / "evidence").write_text("no folder can be made here\n")
    server.answers = False
    watch()
    until(lambda: said(tmp_path).startswith("gave up"))

    assert (tmp_path / "calls").read_text().startswith(f"kill --signal=KILL {VLLM}.service")


def test_a_unit_that_dies_slowly_is_given_time_before_it_is_killed_again(
    watch: Callable[[], None], server: Server, tmp_path: Path
) -> None:
    server.answers = False
    watch()
    until(lambda: said(tmp_path).startswith("restarted"))
    until(lambda: not said(tmp_path).startswith("restarted"))

    assert said(tmp_path).startswith("silent 1 times of 2")


def test_evidence_of_a_process_that_ended_meanwhile_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    pids = [str(ended.pid), str(os.getpid())]
    monkeypatch.setattr(evidence, "engine_pids", lambda: pids)

    assert evidence.stacks("true").count("====") == 1


def test_what_was_restarted_is_known_after_the_watch_s_own_death(
    watch: Callable[[], None], server: Server, tmp_path: Path
) -> None:
    (tmp_path / f"{VLLM}.json").write_text(json.dumps({"restarts": [time.time()]}))
    server.answers = False
    watch()
    until(lambda: said(tmp_path).startswith("gave up"))

    assert not (tmp_path / "calls").exists()


def test_the_node_exporter_finds_what_no_exporter_knows(
    watch: Callable[[], None], server: Server, tmp_path: Path
) -> None:
    own = tmp_path.parent / VLLM
    own.mkdir(exist_ok=True)
    (own / "failed").write_text(json.dumps({"count": 5}))
    file = tmp_path / "glmstead.prom"
    watch()
    until(lambda: file.exists() and "glmstead_alive_timestamp" in file.read_text())
    lines = file.read_text().splitlines()
    found = dict(line.rsplit(" ", 1) for line in lines)

    assert found.pop(f'glmstead_alive_timestamp_seconds{{unit="{VLLM}"}}')
    assert abs(float(found.pop("glmstead_figures_timestamp_seconds")) - time.time()) < 60
    assert found == {
        f'glmstead_failed_starts{{unit="{VLLM}"}}': "5",
        f'glmstead_gave_up{{unit="{VLLM}"}}': "1",
        f'glmstead_asleep{{unit="{VLLM}"}}': "0",
        f'glmstead_watch_restarts{{unit="{VLLM}"}}': "0",
        f'glmstead_watch_gave_up{{unit="{VLLM}"}}': "0",
        f'glmstead_failed_starts{{unit="{GATEWAY}"}}': "0",
        f'glmstead_gave_up{{unit="{GATEWAY}"}}': "0",
        f'glmstead_asleep{{unit="{GATEWAY}"}}': "0",
        f'glmstead_watch_restarts{{unit="{GATEWAY}"}}': "0",
        f'glmstead_watch_gave_up{{unit="{GATEWAY}"}}': "0",
        'glmstead_patch_missing{patch="ABORT_RACE_FIX"}': "1",
        'glmstead_gpu_driver{state="mismatch"}': "1",
        "glmstead_gpus_found": "0",
        "glmstead_gpus_declared": "8",
        "glmstead_gpus_slowed": "0",
    }


def test_a_member_is_not_asked_for_at_every_look(tmp_path: Path) -> None:
    """Asking imports Ray on the host, which is a second of work."""
    asked = tmp_path / "asked"
    limits = {"idle_ask_s": 60, "failures": 2, "compile_s": 0, "restarts": 1, "window_s": 3600}
    words = ["sh", "-c", f"echo asked >>{asked}"]
    config = {"limits": limits, "ray": words, "environment": "/nonexistent", "address": "10.0.0.2"}
    ray = Watch(config, tmp_path, "glmstead-ray-worker")
    ray.live.begin(time.monotonic())
    for _ in range(3):
        watch_member(ray)

    assert ray.state == "alive: a member"
    assert asked.read_text().split() == ["asked"]


def test_a_control_group_that_ends_while_it_is_read_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "glmstead-vllm.service" / "cgroup.procs"
    monkeypatch.setattr(Path, "rglob", lambda *_: iter([gone]))

    assert not compiling()
    assert evidence.engine_pids() == []
