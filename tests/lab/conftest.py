"""One deployed lab for all tests of the main job: two real hosts, the real engine."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from glmstead import ROOT
from glmstead.lab.config import LabConfig

# Name of a deployed lab to use as it is, while writing tests; GLMSTEAD_LAB_SUBNET is its subnet
_KEPT = os.environ.get("GLMSTEAD_TEST_KEPT_LAB")
_OWN = {"GLMSTEAD_LAB_NAME": "test", "GLMSTEAD_LAB_SUBNET": "10.77.48.0/24"}
ENV = {**os.environ, **({"GLMSTEAD_LAB_NAME": _KEPT} if _KEPT else _OWN)}
LAB = LabConfig.from_environment(ENV)
HEAD, WORKER = LAB.host_names(2)
ADDRESS = str(LAB.address(HEAD))
GATEWAY = f"http://{ADDRESS}:4000"
INVENTORY = ROOT / "inventories" / "lab.py"
Run = subprocess.CompletedProcess[str]


@dataclass(frozen=True)
class Deployed:
    """The lab of this run: hosts HEAD (also the gateway's) and WORKER."""

    env: dict[str, str]
    demo: list[str]  # what scripts/demo said

    def run(self, *words: str | Path, timeout_s: float = 60, cwd: Path = ROOT) -> Run:
        """Run a program of this environment in the lab's environment; never raises on failure."""
        program, *rest = map(str, words)
        return subprocess.run(
            [str(Path(sys.executable).parent / program), *rest],
            env=self.env,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout_s,
        )

    def ssh(self, host: str, command: str, timeout_s: float = 60) -> str:
        """What a shell command on a host prints; raises AssertionError when it fails."""
        done = self.run("glmstead", "lab", "ssh", host, command, timeout_s=timeout_s)
        assert done.returncode == 0, f"{host}: {command}: {done.stderr}"
        return done.stdout.strip()

    def send(self, host: str, folder: Path, target: str) -> None:
        """Copy a folder to a host, readable by everybody."""
        words = ["tar", "--create", "--directory", str(folder), "."]
        content = subprocess.run(words, capture_output=True, check=True).stdout
        unpack = f"rm -rf {target} && mkdir -p {target} && tar -x -C {target} --no-same-owner"
        done = subprocess.run(
            [Path(sys.executable).parent / "glmstead", "lab", "ssh", host, unpack],
            env=self.env,
            input=content,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr

    def deploy(self, inventory: Path = INVENTORY) -> dict[str, list[str]]:
        """Deploy as a user does; ``{operation: hosts it changed}`` of those that changed any."""
        done = self.run("pyinfra", "-y", "--json", inventory, "deploy.py", timeout_s=900)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        operations = json.loads(done.stdout)["results"]["operations"]
        return {one["name"]: sorted(one["success"]) for one in operations if one["success"]}


@pytest.fixture(scope="session", autouse=True)
def root_rights() -> None:
    """A lab that cannot run is a failed run, never a quiet skip."""
    assert os.geteuid() == 0, "the lab needs root; run scripts/test as root, or with --fast"


@pytest.fixture(scope="session")
def deployed() -> Iterator[Deployed]:
    """Two fresh hosts brought up by the README's first command; down again at the end."""
    lab = Deployed(ENV, demo=[])
    if _KEPT:
        yield lab
        return
    try:
        demo = subprocess.run(
            [ROOT / "scripts" / "demo", "--fresh"],
            env=ENV,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=2400,
        )
        assert demo.returncode == 0, demo.stdout[-4000:] + demo.stderr[-2000:]
        lab.demo.append(demo.stdout)
        yield lab
    finally:
        lab.run("glmstead", "lab", "down", timeout_s=600)
