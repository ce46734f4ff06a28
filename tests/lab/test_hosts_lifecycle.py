"""A real lab of its own beside the default one: up, acts on a host, crashes, down. About 40 s."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from ipaddress import IPv4Network
from pathlib import Path

import pytest

from glmstead.lab import lifecycle, machine, network
from glmstead.lab.config import LabConfig
from glmstead.lab.lock import locked
from glmstead.lab.process import wait_until
from glmstead.lab.ssh import make_key, ssh_command
from glmstead.lab.state import Lab, read_lab

pytestmark = pytest.mark.lab

BOOT_ID = "cat /proc/sys/kernel/random/boot_id"


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabConfig]:
    config = LabConfig(
        name="labt",
        subnet=IPv4Network("10.77.43.0/24"),
        state=tmp_path_factory.mktemp("labt") / "state",
        cache=LabConfig.from_environment().cache,
    )
    assert glmstead(config, "up", "--hosts", "1", "--no-wheels").returncode == 0
    yield config
    glmstead(config, "down")


def glmstead(config: LabConfig, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    env = {
        **os.environ,
        "GLMSTEAD_LAB_NAME": config.name,
        "GLMSTEAD_LAB_SUBNET": str(config.subnet),
        "GLMSTEAD_LAB_STATE": str(config.state),
        "GLMSTEAD_CACHE": str(config.cache),
    }
    argv = [sys.executable, "-m", "glmstead.lab", *words]
    return subprocess.run(
        argv, env=env, input=stdin, capture_output=True, text=True, timeout=300, check=False
    )


def the_lab(config: LabConfig) -> Lab:
    lab = read_lab(config)
    assert lab is not None
    return lab


def test_a_second_up_changes_nothing(config: LabConfig) -> None:
    before = glmstead(config, "ssh", "labt1", BOOT_ID).stdout

    second = glmstead(config, "up", "--hosts", "1", "--no-wheels")

    assert (second.returncode, second.stdout) == (0, "Already up: labt1\n")
    assert glmstead(config, "ssh", "labt1", BOOT_ID).stdout == before


def test_ssh_passes_exit_status_arguments_and_standard_input(config: LabConfig) -> None:
    assert glmstead(config, "ssh", "labt1", "exit 7").returncode == 7
    assert glmstead(config, "ssh", "labt1", "echo", "a  b").stdout == "a  b\n"
    assert glmstead(config, "ssh", "labt1", "cat", stdin="hello").stdout == "hello"


def test_the_host_is_a_real_debian_that_reaches_its_mirror(config: LabConfig) -> None:
    script = "hostname; systemctl is-system-running; apt-get update -qq && echo updated"

    assert glmstead(config, "ssh", "labt1", script).stdout == "labt1\nrunning\nupdated\n"


def test_an_unknown_host_is_refused_with_the_names_there_are(config: LabConfig) -> None:
    refused = glmstead(config, "ssh", "labt9", "true")

    assert refused.returncode == 1
    assert refused.stderr == "Error: no host labt9: the lab has labt1\n"


def test_a_host_with_another_key_is_not_talked_to(config: LabConfig, tmp_path: Path) -> None:
    make_key(tmp_path / "other", "labt1")
    kind, key = (tmp_path / "other.pub").read_text().split()[:2]
    (tmp_path / "known_hosts").write_text(f"labt1 {kind} {key}\n")
    argv = ssh_command(the_lab(config), "labt1", ["true"])
    argv[1:1] = ["-o", f"UserKnownHostsFile={tmp_path}/known_hosts"]

    refused = subprocess.run(argv, capture_output=True, text=True, check=False)

    assert refused.returncode == 255
    assert "Host key verification failed" in refused.stderr


def test_two_runs_at_once_are_refused(config: LabConfig) -> None:
    with locked(config):
        second = glmstead(config, "up", "--hosts", "1", "--no-wheels")

    assert second.returncode == 1
    assert second.stderr == f"Error: process {os.getpid()} is at work on this lab: wait for it\n"


def test_a_reboot_is_a_new_boot_of_the_same_disk(config: LabConfig) -> None:
    before = glmstead(config, "ssh", "labt1", f"{BOOT_ID}; echo kept > /root/mark").stdout

    assert glmstead(config, "reboot", "labt1").returncode == 0

    after = glmstead(config, "ssh", "labt1", f"{BOOT_ID}; cat /root/mark").stdout
    assert after.endswith("kept\n")
    assert not after.startswith(before)


def test_up_repairs_a_killed_nspawn_and_keeps_the_disk(config: LabConfig) -> None:
    glmstead(config, "ssh", "labt1", "echo kept > /root/mark; sync")
    (nspawn,) = machine.pids(machine.lab_group(config) / "labt1/machine/supervisor")
    os.kill(nspawn, signal.SIGKILL)
    assert wait_until(lambda: not machine.is_running(config, "labt1") or None, 5)

    assert glmstead(config, "up", "--no-wheels").returncode == 0

    assert glmstead(config, "ssh", "labt1", "cat /root/mark").stdout == "kept\n"


def test_a_killed_host_is_listed_as_off_and_started_again(config: LabConfig) -> None:
    assert glmstead(config, "kill", "labt1").returncode == 0
    assert glmstead(config, "list").stdout == "labt1  10.77.43.11  off\n"

    assert glmstead(config, "start", "labt1").returncode == 0

    assert glmstead(config, "list").stdout == "labt1  10.77.43.11  running\n"


def test_a_lab_grows_and_shrinks_around_the_hosts_it_has(config: LabConfig) -> None:
    before = glmstead(config, "ssh", "labt1", BOOT_ID).stdout

    assert glmstead(config, "up", "--hosts", "2", "--no-wheels").returncode == 0
    assert glmstead(config, "ssh", "labt2", "getent hosts labt1").stdout.startswith("10.77.43.11")
    assert glmstead(config, "up", "--hosts", "1", "--no-wheels").returncode == 0

    assert [host.name for host in the_lab(config).hosts] == ["labt1"]
    assert lifecycle.existing_hosts(config) == ["labt1"]
    assert glmstead(config, "ssh", "labt1", BOOT_ID).stdout == before


def test_fresh_starts_from_an_empty_disk(config: LabConfig) -> None:
    glmstead(config, "ssh", "labt1", "touch /root/mark")

    assert glmstead(config, "up", "--fresh", "--no-wheels").returncode == 0

    assert glmstead(config, "ssh", "labt1", "test -e /root/mark").returncode == 1


def test_down_leaves_nothing_even_after_a_crash(config: LabConfig) -> None:
    # As if the tool had died: no record, the keeper gone, the host still running.
    (config.state / "lab.json").unlink()
    for pid in machine.pids(machine.lab_group(config) / "labt1/keeper"):
        os.kill(pid, signal.SIGKILL)

    assert glmstead(config, "down").returncode == 0
    assert glmstead(config, "down").returncode == 0

    assert not config.state.exists()
    assert not list(Path("/sys/fs/cgroup").rglob("glmstead-labt"))
    assert not list(Path("/run/systemd/nspawn").rglob("labt*"))
    assert not [link for link in network.links() if "labt" in link["ifname"]]
    assert config.table not in network.lab_tables()
    assert str(config.state) not in Path("/proc/mounts").read_text()
    assert not [argv for argv in machine.command_lines().values() if "--machine=labt1" in argv]
