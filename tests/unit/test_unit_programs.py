"""The small programs that units run, with a systemctl of their own on PATH."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from glmstead import ROOT

Run = subprocess.CompletedProcess[str]
Program = Callable[..., Run]
UNIT, HEAD = "glmstead-vllm.service", "glmstead-ray-head.service"


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """Run one of files/libexec; systemctl says what ``jobs`` and ``active_s`` tell it to."""
    calls = tmp_path / "calls"
    fake = tmp_path / "bin" / "systemctl"
    fake.parent.mkdir()
    fake.write_text(
        f"""#!/bin/sh
case $1 in
    list-jobs) echo "$JOBS" ;;
    show) printf 'Result=%s\\n' "${{BELOW:-success}}"; printf 'InactiveExitTimestampMonotonic=%s\\nActiveEnterTimestampMonotonic=%s\\n' $STAMPS ;;
    *) echo "$@" >>{calls} ;;
esac
"""
    )
    fake.chmod(0o755)

    def run(name: str, *words: str | Path, **env: str) -> Run:
        return subprocess.run(
            [sys.executable, ROOT / "files" / "libexec" / name, *map(str, words)],
            env={**os.environ, "PATH": f"{fake.parent}:{os.environ['PATH']}", "JOBS": "", **env},
            capture_output=True,
            text=True,
            check=False,
            timeout=20,
        )

    return run


def ended(program: Program, folder: Path, served_s: float = 0, **env: str) -> Run:
    """End a unit that served for some seconds before; 0: it never came up."""
    now = int(time.clock_gettime(time.CLOCK_MONOTONIC) * 1e6)
    active = now - int(served_s * 1e6) if served_s else 1
    stamps = {"STAMPS": f"{active - 5 if served_s else 2} {active}", "SERVICE_RESULT": "exit-code"}
    done = program("attempts.py", "ended", folder, UNIT, HEAD, **{**stamps, **env})
    assert done.returncode == 0, done.stderr
    return done


def failures(folder: Path) -> int:
    path = folder / "failed"
    return int(json.loads(path.read_text())["count"]) if path.exists() else 0


def restarts(folder: Path) -> list[str]:
    path = folder / "calls"
    return path.read_text().splitlines() if path.exists() else []


def test_a_failed_start_is_counted_and_all_ranks_restart(program: Program, tmp_path: Path) -> None:
    ended(program, tmp_path)

    assert failures(tmp_path) == 1
    assert restarts(tmp_path) == [f"restart --no-block {HEAD}"]


def test_the_fifth_failure_in_a_row_is_the_last_start(program: Program, tmp_path: Path) -> None:
    for _ in range(5):
        ended(program, tmp_path)
    refused = program("attempts.py", "may-start", tmp_path)

    assert refused.returncode == 1
    assert refused.stdout == "gave up after 5 failed starts in a row; next: glmstead recover\n"
    assert len(restarts(tmp_path)) == 4


def test_faults_that_healed_are_no_failures_in_a_row(program: Program, tmp_path: Path) -> None:
    for _ in range(9):
        ended(program, tmp_path, served_s=130)

    assert failures(tmp_path) == 1
    assert program("attempts.py", "may-start", tmp_path).returncode == 0


def test_an_engine_that_dies_on_its_first_requests_has_failed_to_start(
    program: Program, tmp_path: Path
) -> None:
    ended(program, tmp_path, served_s=10)
    ended(program, tmp_path, served_s=10)

    assert failures(tmp_path) == 2


@pytest.mark.parametrize("job", ["stop", "restart"])
def test_a_unit_that_was_asked_to_stop_has_not_failed(
    program: Program, tmp_path: Path, job: str
) -> None:
    ended(program, tmp_path, JOBS=f"204 {UNIT} {job} running")

    assert failures(tmp_path) == 0
    assert restarts(tmp_path) == []


def test_a_unit_stopped_because_ray_s_head_failed_has_failed(
    program: Program, tmp_path: Path
) -> None:
    """Else a raylet that dies at every load is loaded into again for ever, without a pause."""
    ended(program, tmp_path, JOBS=f"204 {UNIT} stop running", BELOW="oom-kill")

    assert failures(tmp_path) == 1
    assert restarts(tmp_path) == []  # it restarts by itself


def test_an_engine_woken_while_it_was_being_stopped_has_not_failed(
    program: Program, tmp_path: Path
) -> None:
    ended(program, tmp_path, JOBS=f"204 {UNIT} start waiting", SERVICE_RESULT="success")

    assert failures(tmp_path) == 0
    assert restarts(tmp_path) == []


def test_waiting_for_the_other_hosts_is_no_failure(program: Program, tmp_path: Path) -> None:
    (tmp_path / "waiting").write_text("10.77.42.12 has not joined\n")
    ended(program, tmp_path)

    assert failures(tmp_path) == 0
    assert restarts(tmp_path) == []


@pytest.fixture
def server() -> "list[int]":
    """Requests that a server's metrics count, one value a question; the last one stays."""
    values: list[int] = []

    class Metrics(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            now = values.pop(0) if len(values) > 1 else values[0]
            self.send_response(200)
            self.end_headers()
            self.wfile.write(
                f'vllm:num_requests_running{{engine="0"}} {now}\n'
                'vllm:num_requests_waiting{engine="0"} 0.0\n'.encode()
            )

        def log_message(self, format: str, *args: object) -> None:
            pass

    listening = HTTPServer(("127.0.0.1", 0), Metrics)
    values.append(listening.server_port)
    Thread(target=listening.serve_forever, daemon=True).start()
    return values


def test_a_stop_waits_for_running_requests(program: Program, server: list[int]) -> None:
    port = server.pop()
    server += [2, 1, 0]
    done = program("drain.py", f"http://127.0.0.1:{port}", "10")

    assert (done.returncode, done.stdout) == (0, "")
    assert server == [0]


def test_a_stop_waits_no_longer_than_declared(program: Program, server: list[int]) -> None:
    port = server.pop()
    server.append(2)
    done = program("drain.py", f"http://127.0.0.1:{port}", "0.5")

    assert done.returncode == 0
    assert done.stdout == "2 requests have not ended after 0.5 s: cut off\n"


def test_a_server_too_busy_to_say_is_waited_for(program: Program) -> None:
    """Its figures may come late, its requests run: they are not cut off."""
    with socket.create_server(("127.0.0.1", 0)) as mute:
        url = f"http://127.0.0.1:{mute.getsockname()[1]}"
        done = program("drain.py", url, "4")

    assert done.stdout == "requests have not ended after 4 s: cut off\n"


def test_a_server_that_is_gone_is_not_waited_for(program: Program) -> None:
    assert program("drain.py", "http://127.0.0.1:9", "60").returncode == 0


def test_a_cancelled_start_is_waited_for_once_more(program: Program, tmp_path: Path) -> None:
    """Ray's head restarted meanwhile, and started the engine anew."""
    fake = tmp_path / "bin" / "systemctl"
    fake.write_text(
        f'#!/bin/sh\necho "$@" >>{tmp_path}/calls\ntest $(wc -l <{tmp_path}/calls) -gt 1 && exit\n'
        f'echo "Job for {UNIT} canceled." >&2; exit 1\n'
    )
    done = program("run_unit.py", "restart", UNIT)

    assert (done.returncode, done.stderr) == (0, "")
    assert restarts(tmp_path) == [f"restart {UNIT}", f"start {UNIT}"]


def test_a_failed_start_says_why(program: Program, tmp_path: Path) -> None:
    for name, said in (("systemctl", 'Job failed." >&2; exit 1; echo "'), ("journalctl", "why")):
        fake = tmp_path / "bin" / name
        fake.write_text(f'#!/bin/sh\necho "{said}"\n')
        fake.chmod(0o755)
    done = program("run_unit.py", "start", UNIT)

    assert done.returncode == 1
    assert done.stderr.splitlines() == ["Job failed.", "why"]


def test_a_stop_during_a_start_ends_a_server_that_hears_no_sigterm() -> None:
    deaf = ["sh", "-c", "trap '' TERM; echo deaf; while :; do sleep 1; done"]
    with socket.create_server(("127.0.0.1", 0)) as port, started(deaf) as server:
        assert server.stdout is not None and server.stdout.readline()
        url = f"http://127.0.0.1:{port.getsockname()[1]}"
        program = ROOT / "files" / "libexec" / "wait_answer.py"
        words = [sys.executable, str(program), url, "60", "glm-5.2"]
        with started(words, MAINPID=str(server.pid)) as waiting:
            port.accept()  # it asks
            waiting.terminate()
        server.wait(10)

    assert server.returncode == -signal.SIGKILL
    assert waiting.returncode == 1


def test_a_server_that_is_not_ready_in_time_is_ended(program: Program) -> None:
    with started(["sleep", "60"]) as server:
        env = {"MAINPID": str(server.pid)}
        done = program("wait_answer.py", "http://127.0.0.1:1", "0", "glm-5.2", **env)
        server.wait(10)

    assert done.returncode == 1 and done.stderr == "not ready after 0 s\n"
    assert server.returncode == -signal.SIGKILL


def started(words: list[str], **env: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(words, env={**os.environ, **env}, stdout=subprocess.PIPE)
