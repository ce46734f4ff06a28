"""The MTU between two real hosts: set, kept over a reboot, and refused where it does not pass."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from glmstead import ROOT

pytestmark = pytest.mark.lab

HERE = Path(__file__).parent
LAB = {"GLMSTEAD_LAB_NAME": "gpunet", "GLMSTEAD_LAB_SUBNET": "10.77.52.0/24"}
Run = subprocess.CompletedProcess[str]


def run(*words: str) -> Run:
    return subprocess.run(
        [str(Path(sys.executable).parent / words[0]), *words[1:]],
        env={**os.environ, **LAB, "PYTHONPATH": str(ROOT)},
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture(scope="module", autouse=True)
def hosts() -> Iterator[None]:
    up = run("glmstead", "lab", "up", "--hosts", "2", "--no-wheels")
    assert up.returncode == 0, up.stderr
    yield
    run("glmstead", "lab", "down")


def mtu(host: str) -> int:
    shown = run("glmstead", "lab", "ssh", host, "cat /sys/class/net/host0/mtu")
    return int(shown.stdout)


def deploy(value: int) -> Run:
    inventory = str(ROOT / "inventories" / "lab.py")
    data = ("--data", f"cluster_mtu={value}")
    return run("pyinfra", "-y", "--json", *data, inventory, str(HERE / "only_network.py"))


def changed(done: Run) -> list[str]:
    assert done.returncode == 0, done.stderr
    return [
        one["name"] for one in json.loads(done.stdout)["results"]["operations"] if one["success"]
    ]


def test_the_mtu_is_set_once_and_passes_between_the_hosts() -> None:
    assert changed(deploy(1300)) == ["Network | MTU 1300"]
    assert (mtu("gpunet1"), mtu("gpunet2")) == (1300, 1300)
    assert changed(deploy(1300)) == []


def test_the_mtu_comes_back_after_a_reboot() -> None:
    assert run("glmstead", "lab", "reboot", "gpunet2").returncode == 0
    run("glmstead", "lab", "ssh", "gpunet2", "systemctl is-system-running --wait")

    assert mtu("gpunet2") == 1300


def test_a_drifted_mtu_is_mended() -> None:
    run("glmstead", "lab", "ssh", "gpunet1", "ip link set dev host0 mtu 1290")

    assert changed(deploy(1300)) == ["Network | MTU 1300"]
    assert mtu("gpunet1") == 1300


def test_G4s_mtu_is_refused_where_the_network_between_is_smaller() -> None:
    done = deploy(8896)

    assert done.returncode == 1
    assert (
        "packets of 8896 bytes do not reach 10.77.52.12 (no answer in 2 s): raise the MTU of the "
        "network between the hosts (of the VPC, the switch), or lower cluster_mtu"
    ) in done.stdout + done.stderr
