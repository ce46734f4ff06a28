"""Command lines of the lab, what is left of them, and refusals."""

from dataclasses import replace
from pathlib import Path

import pytest

from glmstead.lab import image, preflight, wheels
from glmstead.lab.config import LabConfig, LabError
from glmstead.lab.nspawn import left_over_mounts, left_over_pids, nspawn_command
from glmstead.lab.process import last_line
from glmstead.lab.ssh import client_config, known_host, ssh_command
from glmstead.lab.state import planned_lab

LAB = LabConfig()


def test_a_host_boots_from_its_disk_on_the_labs_bridge() -> None:
    command = nspawn_command(LAB, "lab1")

    assert command[0] == "systemd-nspawn"
    assert "--directory=/var/lib/glmstead-lab/hosts/lab1" in command
    assert "--machine=lab1" in command
    assert "--network-bridge=glmlab0" in command
    assert "--bind-ro=/var/cache/glmstead-lab/wheels:/srv/wheels" in command


def test_left_over_processes_are_told_by_our_disks_not_by_their_names() -> None:
    elsewhere = LabConfig(state=Path("/var/lib/glmstead-lab2"))
    processes = {
        10: nspawn_command(LAB, "lab1"),
        11: ["python", "keeper.py", "/cgroup/lab1", *nspawn_command(LAB, "lab1")],
        12: nspawn_command(elsewhere, "lab1"),
        13: ["systemd-nspawn", "--directory=/srv/other", "--machine=lab1"],
        14: ["ls", "/var/lib/glmstead-lab/hosts/lab1"],
        15: [""],
    }

    assert left_over_pids(LAB, processes) == [10, 11]


def test_left_over_mounts_come_deepest_first() -> None:
    mounts = [
        "/dev/vda / ext4 rw 0 0",
        "proc /var/lib/glmstead-lab/hosts/lab1/proc proc rw 0 0",
        "bin /var/lib/glmstead-lab/hosts/lab1/proc/sys/fs/binfmt_misc binfmt rw 0 0",
        "tmpfs /var/lib/glmstead-lab2/hosts tmpfs rw 0 0",
    ]

    assert left_over_mounts(LAB, mounts) == [
        "/var/lib/glmstead-lab/hosts/lab1/proc/sys/fs/binfmt_misc",
        "/var/lib/glmstead-lab/hosts/lab1/proc",
    ]


def test_connections_know_the_hosts_key_and_accept_no_other() -> None:
    lab = planned_lab(LAB, count=1)
    line = known_host(lab.hosts[0], "ssh-ed25519 AAAAC3 lab1\n")

    assert line == "lab1,10.77.42.11 ssh-ed25519 AAAAC3\n"
    assert "StrictHostKeyChecking yes" in client_config(lab, lab.hosts[0])
    assert ssh_command(lab, "lab1", ["true"])[-2:] == ["lab1", "true"]


def test_wheels_are_hash_locked_and_for_the_hosts_python() -> None:
    command = wheels.pip_command(Path("/locks/lab.txt"), Path("/wheels"), {}, "aarch64")

    assert {"--require-hashes", "--no-deps", "--only-binary=:all:"} <= set(command)
    assert command[command.index("--python-version") + 1] == "3.11"
    assert "manylinux_2_28_aarch64" in command
    assert "https://download.pytorch.org/whl/cpu" in command


def test_a_folder_of_wheels_replaces_the_index_of_torch() -> None:
    env = {"PIP_FIND_LINKS": "/pip", "GLMSTEAD_FIND_LINKS": "/ours"}
    command = wheels.pip_command(Path("/locks/lab.txt"), Path("/wheels"), env, "x86_64")

    assert command[command.index("--find-links") + 1] == "/ours"
    assert "--extra-index-url" not in command


def test_the_image_is_another_one_for_other_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    before = image.image_path(LAB)
    monkeypatch.setattr(image, "PACKAGES", ("systemd",))

    assert image.image_path(LAB) != before


def test_suites_share_neither_image_nor_packages() -> None:
    noble = replace(LAB, suite="noble")

    assert image.image_path(noble) != image.image_path(LAB)
    assert noble.debs != LAB.debs


def test_without_root_the_fix_is_sudo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preflight.os, "geteuid", lambda: 1000)

    with pytest.raises(LabError, match="needs root: run it with sudo"):
        preflight.require_root()


def test_missing_packages_are_named_as_apt_takes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {"apt-get", "ip", "ssh-keygen", "iptables", "nft"}
    monkeypatch.setattr(
        preflight.shutil, "which", lambda program: program if program in found else None
    )

    with pytest.raises(LabError, match=r"apt-get install -y systemd-container debootstrap$"):
        preflight.require_programs()


def test_debians_keyring_is_asked_for_where_ubuntu_has_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """debootstrap of Ubuntu 24.04 does not pull it in: "Keyring-based check was requested"."""
    keyring = tmp_path / "debian-archive-keyring.gpg"
    programs = {"coreutils": "ls", "debian-archive-keyring": str(keyring)}
    monkeypatch.setattr(preflight, "PROGRAMS", programs)

    assert preflight.missing_packages() == ["debian-archive-keyring"]
    keyring.touch()
    assert preflight.missing_packages() == []


def test_a_machine_without_apt_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preflight.shutil, "which", lambda program: None)

    with pytest.raises(LabError, match="needs Debian"):
        preflight.require_programs()


def test_a_full_disk_is_refused_with_what_is_needed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(preflight, "free_gb", lambda path: 9.0)
    config = LabConfig(state=tmp_path, cache=tmp_path)

    with pytest.raises(LabError, match="9 GB free, 16 GB needed"):
        preflight.require_room(config, new_hosts=2)
    preflight.require_room(config, new_hosts=0)


def test_the_last_line_that_says_something_is_quoted() -> None:
    assert last_line("E: one\n\n  two \n\n") == "two"
    assert last_line("") == "no output"
