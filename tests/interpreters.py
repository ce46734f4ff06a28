"""Python interpreters on this machine, by minor version; those that are missing skip their tests."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

MINORS = ("3.10", "3.11", "3.12", "3.13")


@cache
def find_interpreter(minor: str) -> str | None:
    """Path of a working interpreter: on PATH, known to uv, or installed by pyenv."""
    return next((path for path in _candidates(minor) if _is_minor(path, minor)), None)


def interpreter(minor: str) -> str:
    """The interpreter, or a skip of the test that asks."""
    found = find_interpreter(minor)
    if found is None:
        pytest.skip(f"no Python {minor} on this machine")
    return found


def _candidates(minor: str) -> Iterator[str]:
    yield from filter(None, [shutil.which(f"python{minor}")])
    words = ("uv", "python", "find", "--no-project", "--no-python-downloads", minor)
    found = subprocess.run(words, capture_output=True, text=True, check=False)
    yield from found.stdout.split()
    pyenv = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser() / "versions"
    yield from map(str, sorted(pyenv.glob(f"{minor}*/bin/python{minor}")))


def _is_minor(path: str, minor: str) -> bool:
    words = [path, "-c", "import sys; print('{}.{}'.format(*sys.version_info))"]
    found = subprocess.run(words, capture_output=True, text=True, check=False)
    return found.returncode == 0 and found.stdout.strip() == minor
