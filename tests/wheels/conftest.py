"""Environments made of released wheels: their stock sources, copied so that a test may edit them."""

import json
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from glmstead.patching import probe
from glmstead.patching.catalogue import load_catalogue
from glmstead.patching.request import probe_request
from tests.wheels.released import site_packages


class Released:
    """Sources of some releases side by side, and what the probe says and does there."""

    def __init__(self, folders: list[Path], capture: pytest.CaptureFixture[str]) -> None:
        self.folders, self._capture = folders, capture

    def ask(self, action: str = "probe", tags: Iterable[str] = ()) -> dict[str, Any]:
        """The probe's answer to a request."""
        request = probe_request(load_catalogue())
        paths = [str(folder) for folder in self.folders]
        probe.main({**request, "action": action, "tags": list(tags), "paths": paths})
        answer: dict[str, Any] = json.loads(self._capture.readouterr().out)
        return answer

    def verdicts(self) -> dict[str, str]:
        """Verdict of every patch of the catalogue."""
        return verdicts(self.ask())

    def sources(self) -> dict[str, bytes]:
        """Every source by path."""
        return {
            str(path.relative_to(folder)): path.read_bytes()
            for folder in self.folders
            for path in sorted(folder.rglob("*.py"))
        }


def verdicts(answer: dict[str, Any]) -> dict[str, str]:
    """Verdict by tag, as an answer of the probe states it."""
    return {row["tag"]: row["verdict"] for row in answer["rows"]}


@pytest.fixture
def released(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Released]:
    """Releases to edit, as ``released(("vllm", "0.28.0"), ...)``."""

    def copy(*releases: tuple[str, str]) -> Released:
        folders = []
        for package, release in releases:
            folder = tmp_path / f"{package}-{release}"
            shutil.copytree(site_packages(package, release), folder)
            folders.append(folder)
        return Released(folders, capsys)

    return copy
