"""What the compiler's check says where FlashInfer would die minutes later; by field numbers."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from glmstead import ROOT
from glmstead.serving import engine_environment
from glmstead.settings import Settings

PROGRAM = ROOT / "files" / "libexec" / "compile_kernel.py"
VERSION = "echo 'Cuda compilation tools, release 13.0, V13.0.88'"
Check = Callable[..., str]


@pytest.fixture
def check(tmp_path: Path) -> Check:
    """Run the check with these programs, each a shell script; what it says when it refuses."""

    def run(home: str | None = None, architecture: str = "sm_120a", **programs: str) -> str:
        (tmp_path / "bin").mkdir()
        for name, script in programs.items():
            path = tmp_path / "bin" / name.replace("gxx", "g++")
            path.write_text(f"#!/bin/sh\n{script}\n")
            path.chmod(0o755)
        environment = {"PATH": f"{tmp_path}/bin"}
        if home != "":
            environment["CUDA_HOME"] = home or str(tmp_path)
        done = subprocess.run(
            [sys.executable, PROGRAM, architecture, "key"],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode == 0:
            assert json.loads(done.stdout)["architecture"] == architecture
        return done.stderr.strip().replace(str(tmp_path), "HOME")

    return run


def nvcc(error: str) -> dict[str, str]:
    """A compiler that says this; ninja runs it."""
    script = f"[ \"$1\" = --version ] && {{ {VERSION}; exit 0; }}; echo '{error}'; exit 1"
    return {"nvcc": script, "ninja": '"$CUDA_HOME/bin/nvcc" kernel.cu', "gxx": "exit 0"}


def test_a_compiler_that_builds_is_told(check: Check) -> None:
    assert check(nvcc=VERSION, ninja="exit 0", gxx="exit 0") == ""


@pytest.mark.parametrize("home", ["", ":/usr/local/cuda-12.8/bin/nvcc", "cuda"])
def test_B1_a_cuda_home_that_is_no_absolute_folder_is_refused(check: Check, home: str) -> None:
    line = check(home=home, nvcc=VERSION, ninja="exit 0", gxx="exit 0")

    assert line == f"CUDA_HOME is {home!r}: it must be one absolute folder"


def test_B3_B4_B5_nvcc_on_PATH_alone_is_not_enough(check: Check, tmp_path: Path) -> None:
    """FlashInfer looks below CUDA_HOME, also where its kernels came compiled."""
    line = check(home=f"{tmp_path}/cuda", nvcc=VERSION, ninja="exit 0", gxx="exit 0")

    assert line == "no nvcc in HOME/cuda/bin: set cuda_source and deploy"


@pytest.mark.parametrize(
    "said",
    [
        "nvcc fatal   : Unknown option '-static-global-template-stub=false'",
        "nvcc fatal   : Unsupported gpu architecture 'compute_120a'",
    ],
)
def test_B6_B7_a_compiler_that_is_too_old_is_told_by_its_own_words(check: Check, said: str) -> None:
    assert check(**nvcc(said.replace("'", ""))) == (
        f"sm_120a cannot be built: {said.replace(chr(39), '')}"
    )


def test_without_ninja_or_cxx_the_package_is_named(check: Check) -> None:
    assert check(nvcc=VERSION, ninja="exit 0") == (
        "no g++ on PATH (HOME/bin): install the package g++"
    )


def test_B5_services_get_CUDA_HOME_and_PATH_of_one_compiler(
    settings: Callable[..., dict[str, Settings]],
) -> None:
    environment = engine_environment(settings(route="g4")["@fake/h1"])

    assert environment["CUDA_HOME"] == "/opt/glmstead/cuda"
    assert environment["PATH"].split(":")[:2] == [
        "/opt/glmstead/engine/bin",
        "/opt/glmstead/cuda/bin",
    ]
