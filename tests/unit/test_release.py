"""What recover ends on a host, what it leaves, and what it waits for.

Everything runs in a process namespace of its own: the program ends processes.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from glmstead import ROOT

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="makes a process namespace")
Run = subprocess.CompletedProcess[str]
AS_NOBODY = "setpriv --reuid=nobody --regid=nogroup --clear-groups"
LEFT = "ps -eo args= | grep -c '^sleep' || true"


@pytest.fixture
def release(tmp_path: Path) -> Callable[..., Run]:
    """Run ``first``, the program, ``LEFT``; the service user is ``nobody``, nvidia-smi a stand-in.

    The stand-in reads the holder's pid from the file ``holder``.
    """

    def run(first: str = "true", used_mib: int = 0, second_mib: int = 0, smi_ends: str = "") -> Run:
        smi = tmp_path / "nvidia-smi"
        smi.write_text(
            "#!/bin/sh\ncase $* in\n"
            f'    *compute-apps*) for pid in $(cat {tmp_path}/holder); do echo "GPU-0, $pid, 512"; done;;\n'
            f"    *memory.used*) echo 0, GPU-0, {used_mib}; echo 1, GPU-1, {second_mib} ;;\nesac\n"
            f"{smi_ends}\n"
        )
        smi.chmod(0o755)
        (tmp_path / "holder").touch()
        request = {"user": "nobody", "kept_units": [], "bound_s": 8, "free_mib": 100}
        request["seconds"] = 30
        program = ROOT / "glmstead" / "probes" / "release.py"
        script = f'{first}\n{sys.executable} {program} "$1"; status=$?\n{LEFT}; exit $status'
        words = ["unshare", "--pid", "--fork", "--mount-proc", "sh", "-c", script, "-"]
        return subprocess.run(
            [*words, json.dumps(request)],
            env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "F": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    return run


def test_what_is_left_of_ours_is_ended_even_when_it_ignores_being_asked(
    release: Callable[..., Run],
) -> None:
    done = release(f"env --ignore-signal=TERM {AS_NOBODY} sleep 100 & sleep 1")

    assert done.returncode == 0, done.stderr
    ending, left = done.stdout.splitlines()
    assert ending.startswith("ending ") and ending.endswith(" sleep 100")
    assert left == "0"


def test_a_foreign_holder_of_a_gpu_is_named_and_left(release: Callable[..., Run]) -> None:
    done = release("sleep 100 & echo $! >$F/holder", used_mib=600)

    assert done.returncode == 0, done.stderr
    told, left = done.stdout.splitlines()
    assert told.endswith(" sleep 100 holds 512 MiB of a GPU: not ours, left alone")
    assert left == "1"


def test_memory_that_is_not_released_fails_the_host(release: Callable[..., Run]) -> None:
    done = release(used_mib=90_000)

    assert done.returncode == 1
    assert done.stderr == "GPU 0 still holds 90000 MiB after 8 s\n"


def test_a_container_s_processes_are_not_ours(release: Callable[..., Run]) -> None:
    """A lab on this machine has the same service user."""
    done = release(f"unshare --pid --fork {AS_NOBODY} sleep 100 & sleep 1")

    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "1")


def test_memory_that_others_hold_on_one_gpu_hides_none_of_ours_on_another(
    release: Callable[..., Run],
) -> None:
    done = release("sleep 100 & echo $! >$F/holder", used_mib=600, second_mib=500)

    assert done.returncode == 1
    assert done.stderr == "GPU 1 still holds 500 MiB after 8 s\n"


def test_a_driver_that_does_not_work_is_one_line(release: Callable[..., Run]) -> None:
    ends = "echo Failed to initialize NVML: Driver/library version mismatch >&2; exit 18"
    done = release(smi_ends=ends)

    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "nvidia-smi: Failed to initialize NVML: Driver/library version mismatch: "
        "glmstead deploy says what is wrong"
    ]
