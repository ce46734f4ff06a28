"""The engine's units start when the GPUs are free, with an nvidia-smi of their own on PATH."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from glmstead import ROOT
from glmstead.render import render
from glmstead.serving import gpus_free
from glmstead.settings import Settings

PROGRAM = ROOT / "files" / "libexec" / "gpus_free.py"
HELD = "4242, VLLM::Worker_TP0, 22528"  # 22 GB after docker rm -f: vllm-omni#2317
VALUES = {
    **dict.fromkeys(("unit", "user", "command", "tidy", "wait_head", "may_start"), "x"),
    **dict.fromkeys(("chat_template", "wait_answer", "drain", "ended", "docker"), "x"),
    **{"nofile": 1, "allow_from": [], "wait_s": 300, "drain_timeout_s": 60, "start_timeout_s": 900},
}
Wait = Callable[..., tuple[int, list[str]]]


@pytest.fixture
def wait(tmp_path: Path) -> Wait:
    """Wait with an nvidia-smi that is this shell script; status and what was said."""

    def run(script: str, bound_s: float = 0) -> tuple[int, list[str]]:
        program = tmp_path / "nvidia-smi"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        done = subprocess.run(
            [sys.executable, PROGRAM, str(bound_s), "1024"],
            env={**os.environ, "PATH": f"{tmp_path}:/usr/bin:/bin", "MARK": str(tmp_path / "m")},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        return done.returncode, done.stdout.splitlines()

    return run


def smi(used: str) -> str:
    return f"case $1 in *compute-apps*) echo '{HELD}' ;; *) {used} ;; esac"


def test_free_gpus_are_not_waited_for(wait: Wait) -> None:
    assert wait(smi("printf '0, 4\\n1, 613\\n'")) == (0, [])


def test_C5_memory_that_comes_back_is_waited_for(wait: Wait) -> None:
    used = '[ -e "$MARK" ] && echo "0, 4" || { : >"$MARK"; echo "0, 22528"; }'

    assert wait(smi(used), bound_s=30) == (
        0,
        [
            "waiting for memory of GPUs: GPU 0 holds 22528 MiB, VLLM::Worker_TP0 (pid 4242) 22528 "
            "MiB of it"
        ],
    )


def test_C4_what_stays_is_named_with_its_process(wait: Wait) -> None:
    assert wait(smi("echo '0, 22528'")) == (
        1,
        [
            "GPU 0 holds 22528 MiB, VLLM::Worker_TP0 (pid 4242) 22528 MiB of it: not free after 0 s: "
            "stop that, or glmstead recover"
        ],
    )


def test_memory_that_no_compute_process_has_points_at_a_display(wait: Wait) -> None:
    assert wait("case $1 in *compute-apps*) ;; *) echo '0, 1500' ;; esac") == (
        1,
        [
            "GPU 0 holds 1500 MiB, no compute process told, so look for a display: not free after "
            "0 s: stop that, or glmstead recover"
        ],
    )


@pytest.mark.parametrize(
    ("name", "shown"),
    [(r"caf\351", "caf\ufffd"), ("train, rank 0", "train, rank 0")],
    ids=["not UTF-8", "a comma"],
)
def test_a_holder_of_any_name_is_told(wait: Wait, name: str, shown: str) -> None:
    status, lines = wait(
        f"case $1 in *apps*) printf '7, {name}, 9000\n' ;; *) echo 0, 9000 ;; esac"
    )

    assert status == 1
    assert f", {shown} (pid 7) 9000 MiB of it: not free" in lines[0]


def test_a_line_that_is_no_gpu_stops_no_start(wait: Wait) -> None:
    assert wait(smi("echo 'WARNING: infoROM is corrupted at gpu 0000:C1:00.0'; echo 0, 4")) == (
        0,
        [],
    )


def test_an_nvidia_smi_that_cannot_be_killed_is_left_behind(tmp_path: Path) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text('#!/bin/sh\necho $$ >"$0.pid"\nexec sleep 300\n')
    program.chmod(0o755)
    # As for a task in D state, which no signal ends.
    unkillable = (
        f"import subprocess, sys; sys.path.insert(0, {str(PROGRAM.parent)!r}); import gpus_free; "
        "subprocess.Popen.kill = lambda self: None; gpus_free.SECONDS = 1; "
        "status = gpus_free.main('0', '1024'); sys.stdout.flush(); import os; os._exit(status)"
    )
    try:
        done = subprocess.run(
            [sys.executable, "-B", "-c", unkillable],
            env={**os.environ, "PATH": f"{tmp_path}:/usr/bin:/bin"},
            stdout=subprocess.PIPE,
            text=True,
            check=False,
            timeout=60,
        )
    finally:
        os.kill(int((tmp_path / "nvidia-smi.pid").read_text()), signal.SIGKILL)

    said = "nvidia-smi: no answer in 1 s: glmstead deploy says what is wrong\n"
    assert (done.returncode, done.stdout) == (1, said)


def test_a_driver_that_does_not_answer_is_told(wait: Wait) -> None:
    assert wait("echo No devices were found; exit 6") == (
        1,
        ["nvidia-smi: No devices were found: glmstead deploy says what is wrong"],
    )


def test_every_unit_that_takes_gpus_waits_and_none_without(
    settings: Callable[..., dict[str, Settings]],
) -> None:
    line = gpus_free(settings(route="g4")["@fake/h1"])

    assert line is not None
    for name in ("glmstead-ray-head", "glmstead-ray-worker", "vllm-single", "vllm-container"):
        unit = render(f"systemd/{name}.service.j2", **VALUES, gpus_free=line)
        assert f"\nExecStartPre=+{line}\n" in unit
    assert gpus_free(settings(name="lab")["@fake/h1"]) is None
