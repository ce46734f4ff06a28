"""Fleets of @fake hosts that answer our probes like bare machines, planned by the real deploy.py."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from glmstead import ROOT
from glmstead.commands.plan import pyinfra_command, run_pyinfra

Fleet = Callable[..., Path]
Run = subprocess.CompletedProcess[str]


@pytest.fixture
def fleet(tmp_path: Path) -> Fleet:
    """Write an inventory of two bare hosts in a route; `second` changes what the second says."""

    def write(
        route: str, second: dict[str, Any] | None = None, down: bool = False, **data: Any
    ) -> Path:
        members = [_member("@fake/h1", "10.77.42.11"), _member("@fake/h2", "10.77.42.12", second)]
        if down:  # nothing listens on port 1
            own = {"cluster_address": "10.77.42.12", "cluster_interface": "host0"}
            members[1] = ("h2", {**own, "ssh_hostname": "127.0.0.1", "ssh_port": 1})
        members = [(name, {**own, **data}) for name, own in members]
        names = [name for name, _ in members]
        groups = {route: members, "head": names[:1], "worker": names[1:], "gateway": names[:1]}
        path = tmp_path / "fleet.py"
        path.write_text(
            "from tests.plan import bare_hosts as _bare_hosts\n\n_bare_hosts.install()\n"
            + "".join(f"{name} = {value!r}\n" for name, value in groups.items())
        )
        return path

    return write


@pytest.fixture
def plan() -> Callable[[Path], list[dict[str, Any]]]:
    """Return the plan of an inventory, as pyinfra tells it."""

    def run(inventory: Path) -> list[dict[str, Any]]:
        words = pyinfra_command(inventory, (), "--dry", "--json")
        done = run_pyinfra(words, capture_output=True)
        assert done.returncode == 0, done.stderr
        operations: list[dict[str, Any]] = json.loads(done.stdout)["plan"]
        return operations

    return run


@pytest.fixture
def plain_pyinfra() -> Callable[[Path], Run]:
    """Deploy as a user without the front door does: pyinfra in the project's root."""

    def run(inventory: Path) -> Run:
        return subprocess.run(
            [sys.executable, "-m", "pyinfra", "-y", str(inventory), "deploy.py"],
            cwd=ROOT,
            env={**os.environ, "PYINFRA_PROGRESS": "off"},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def _member(
    name: str, address: str, changed: dict[str, Any] | None = None
) -> tuple[str, dict[str, Any]]:
    state = {"addresses": {"host0": [address]}, **(changed or {})}
    data = {"cluster_address": address, "cluster_interface": "host0"}
    quick = {"fake_delay": 0, "fake_delay_jitter": 0}
    return name, {**data, **quick, "fake_responses": {"state": state}}
