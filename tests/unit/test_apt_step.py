"""Why apt-get failed, in one line with the fix; its words are those that apt prints."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from glmstead import ROOT

PROGRAM = ROOT / "glmstead" / "probes" / "apt_step.py"
Step = Callable[..., tuple[int, str]]
REFUSED: dict[str, tuple[str, str]] = {
    "unreachable mirror": (
        "Err:1 https://mirror.example/nv  InRelease\n  Could not resolve 'mirror.example'\n"
        "E: Failed to fetch https://mirror.example/nv/InRelease  Could not resolve "
        "'mirror.example'\nE: Some index files failed to download.",
        "the repository cannot be reached: check driver_repository and the host's way out (Could "
        "not resolve 'mirror.example')",
    ),
    "expired key": (
        "Err:1 http://mirror.example  InRelease\n  The following signatures were invalid: "
        "EXPKEYSIG A4B469963BF863CC cudatools\nE: The repository 'http://mirror.example  "
        "InRelease' is not signed.",
        "the repository's key has expired: set driver_key_url to a new one (The following "
        "signatures were invalid: EXPKEYSIG A4B469963BF863CC cudatools)",
    ),
    "key of sqv, Debian 13": (
        "Err:1 http://mirror.example  InRelease\n  Sub-process /usr/bin/sqv returned an error "
        "code (1), error message is: The primary key is not live   because: The primary key is "
        "expired: 2020-01-02T00:00:00Z\nE: The repository 'http://mirror.example  InRelease' is "
        "not signed.",
        "the repository's key has expired: set driver_key_url to a new one (Sub-process "
        "/usr/bin/sqv returned an error code (1), error message is: The primary key is not live   "
        "because: The primary key is expired: 2020-01-02T00:00:00Z)",
    ),
    "another key": (
        "  The following signatures couldn't be verified because the public key is not available: "
        "NO_PUBKEY A4B469963BF863CC",
        "the repository is signed by another key: set driver_key_url (The following signatures "
        "couldn't be verified because the public key is not available: NO_PUBKEY "
        "A4B469963BF863CC)",
    ),
    "A13 held broken packages": (
        "The following packages have unmet dependencies:\n nvidia-headless-580-open : Depends: "
        "libnvidia-compute-580 (= 580.159.04-0ubuntu1) but it is not going to be installed\n"
        "E: Unable to correct problems, you have held broken packages.",
        "the repository does not offer this version, or its dependencies: compare driver_version "
        "with apt-cache madison, and apt-mark showhold (nvidia-headless-580-open : Depends: "
        "libnvidia-compute-580 (= 580.159.04-0ubuntu1) but it is not going to be installed)",
    ),
    "full /boot": (
        "update-initramfs: Generating /boot/initrd.img-6.8.0-60-generic\n"
        "zstd: error 70 : Write error : cannot write block : No space left on device\n"
        "E: Sub-process /usr/bin/dpkg returned an error code (1)",
        "the disk is full: free space in / and /boot (zstd: error 70 : Write error : cannot write "
        "block : No space left on device)",
    ),
    "A17 a module that does not build": (
        "Error! Bad return status for module build on kernel: 7.1.3 (x86_64)\n"
        "dpkg: error processing package nvidia-dkms-580-open (--configure):\n installed "
        "nvidia-dkms-580-open package post-installation script subprocess returned error exit "
        "status 10\nE: Sub-process /usr/bin/dpkg returned an error code (1)",
        "a package failed to set itself up: see above (installed nvidia-dkms-580-open package "
        "post-installation script subprocess returned error exit status 10)",
    ),
    "anything else": ("E: The package cache is corrupt", "E: The package cache is corrupt"),
}
LOCKED = (
    "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 812 (unattended-upgr)"
)

INTERRUPTED = (
    "E: dpkg was interrupted, you must manually run 'dpkg --configure -a' to correct the problem."
)


@pytest.fixture
def step(tmp_path: Path) -> Step:
    """Run the step with an apt-get, and a dpkg, that are these shell scripts."""

    def run(
        script: str, wait_s: float = 0, dpkg: str = "exit 2", driver: bool = True
    ) -> tuple[int, str]:
        for name, content in (("apt-get", script), ("dpkg", dpkg)):
            program = tmp_path / name
            program.write_text(f"#!/bin/sh\n{content}\n")
            program.chmod(0o755)
        request = json.dumps(
            {"words": ["install", "nvidia-open"], "wait_s": wait_s, "driver": driver}
        )
        done = subprocess.run(
            [sys.executable, PROGRAM, request],
            env={"PATH": f"{tmp_path}:/usr/bin:/bin", "MARK": str(tmp_path / "mark")},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stderr.strip()

    return run


@pytest.mark.parametrize(("said", "line"), REFUSED.values(), ids=REFUSED)
def test_a_failure_is_one_line_with_its_cause_and_fix(step: Step, said: str, line: str) -> None:
    assert step(f"cat <<'SAID'\n{said}\nSAID\nexit 100") == (1, f"apt-get install: {line}")


def test_a_package_of_the_system_is_not_mended_by_settings_of_the_driver(step: Step) -> None:
    for said, _ in REFUSED.values():
        _, line = step(f"cat <<'SAID'\n{said}\nSAID\nexit 100", driver=False)
        assert "driver_" not in line

    assert step("echo 'E: Unable to locate package gxx'; exit 100", driver=False) == (
        1,
        "apt-get install: the repository does not offer this version, or its dependencies: look at "
        "apt-cache policy and apt-mark showhold (E: Unable to locate package gxx)",
    )


def test_another_apt_is_waited_for_within_bounds_and_named(step: Step) -> None:
    assert step(f"echo '{LOCKED}'; exit 100") == (
        1,
        "apt-get install: unattended-upgr (pid 812) has held /var/lib/dpkg/lock-frontend for more "
        "than 0 s: let it finish or stop it",
    )


def test_a_lock_that_is_given_back_stops_nothing(step: Step) -> None:
    script = f'[ -e "$MARK" ] && exit 0; : >"$MARK"; echo "{LOCKED}"; exit 100'

    assert step(script, wait_s=60) == (0, "")


def test_what_a_power_cut_left_is_configured_first(step: Step) -> None:
    script = f'[ -e "$MARK" ] && exit 0; echo "{INTERRUPTED}"; exit 100'

    assert step(script, dpkg='[ "$3 $4" = "--configure -a" ] && : >"$MARK"') == (0, "")


def test_what_dpkg_cannot_mend_is_said(step: Step) -> None:
    assert step(f'echo "{INTERRUPTED}"; exit 100') == (1, f"apt-get install: {INTERRUPTED}")
