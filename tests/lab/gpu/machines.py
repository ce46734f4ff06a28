"""Bare hosts of a suite, deployed with one task of the plan at a time."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from ipaddress import IPv4Network
from pathlib import Path

from glmstead import ROOT, places

HERE = Path(__file__).parent
NAME = os.environ.get("GLMSTEAD_LAB_NAME", "gpu")
SUBNET = os.environ.get("GLMSTEAD_LAB_SUBNET", "10.77.47.0/24")
PROTECTED = ("nvidia", "libcuda", "libnvidia", "linux-", "cuda-")
Data = dict[str, object]


@dataclass(frozen=True)
class Outcome:
    """What a deploy did: ``{operation: "changed" | "same"}``, or what it said on refusal."""

    operations: dict[str, str]
    said: str

    @property
    def changed(self) -> list[str]:
        """Operations that changed something; raises AssertionError after a refusal."""
        assert self.operations, self.said
        return [name for name, how in self.operations.items() if how == "changed"]


@dataclass(frozen=True)
class Machines:
    """The hosts gpu1, gpu2, ... of one suite; the environment may name another lab."""

    folder: Path
    suite: str = "bookworm"

    def run(self, *words: str, stdin: str = "") -> "subprocess.CompletedProcess[str]":
        """Run a program of this environment in the lab's; never raises on failure."""
        lab = {
            "GLMSTEAD_LAB_NAME": NAME,
            "GLMSTEAD_LAB_SUBNET": SUBNET,
            "GLMSTEAD_LAB_SUITE": self.suite,
        }
        return subprocess.run(
            [str(Path(sys.executable).parent / words[0]), *words[1:]],
            env={**os.environ, **lab, "PYTHONPATH": str(ROOT)},
            cwd=ROOT,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )

    def up(self, count: int) -> None:
        """Fresh hosts with the programs that units are started by; raises AssertionError."""
        hosts = ("--hosts", str(count), "--fresh", "--no-wheels")
        up = self.run("glmstead", "lab", "up", *hosts)
        assert up.returncode == 0, up.stdout + up.stderr
        for number in range(1, count + 1):
            for program in ("run_unit.py", "gpus_free.py"):
                self.place(number, program)

    def place(self, number: int, program: str) -> None:
        """A program of files/libexec, which the task before those of these tests brings."""
        text = (ROOT / "files" / "libexec" / program).read_text()
        path = f"{places.LIBEXEC}/{program}"
        self.ssh(number, f"install -D -m 644 /dev/stdin {path}", stdin=text)

    def down(self) -> None:
        """Leave nothing."""
        self.run("glmstead", "lab", "down")

    def ssh(self, number: int, command: str, stdin: str = "") -> str:
        """What a command prints; raises AssertionError when it fails."""
        done = self.run("glmstead", "lab", "ssh", f"{NAME}{number}", command, stdin=stdin)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.strip()

    def reboot(self, number: int) -> None:
        """Reboot a host and wait until its units have started."""
        done = self.run("glmstead", "lab", "reboot", f"{NAME}{number}")
        assert done.returncode == 0, done.stderr
        self.ssh(number, "systemctl is-system-running --wait || true")

    def install(self, number: int, *packages: str) -> None:
        """Debian packages that a test needs there."""
        self.ssh(
            number,
            "export DEBIAN_FRONTEND=noninteractive; apt-get update -qq && apt-get install -y -qq "
            f"--no-install-recommends {' '.join(packages)} >/dev/null 2>&1",
        )

    def deploy(self, plan: str, *hosts: int, data: Data, route: str = "lab") -> Outcome:
        """Deploy ``plan`` (a file beside this one) on hosts; the first is the head."""
        lab = Path(f"/var/lib/glmstead-{NAME}")
        members = [
            (
                f"{NAME}{number}",
                {
                    "cluster_address": address(number),
                    "cluster_interface": "host0",
                    "ssh_hostname": address(number),
                    "ssh_user": "root",
                    "ssh_key": str(lab / "id_ed25519"),
                    "ssh_known_hosts_file": str(lab / "known_hosts"),
                    **data,
                },
            )
            for number in hosts
        ]
        names = [name for name, _ in members]
        groups = {route: members, "head": names[:1], "worker": names[1:], "gateway": names[:1]}
        inventory = self.folder / "fleet.py"
        inventory.write_text("".join(f"{name} = {value!r}\n" for name, value in groups.items()))
        done = self.run("pyinfra", "-y", "--json", str(inventory), str(HERE / plan))
        if done.returncode:
            return Outcome({}, done.stdout + done.stderr)
        operations = json.loads(done.stdout)["results"]["operations"]
        return Outcome(
            {
                one["name"].split(" | ")[-1]: "changed" if one["success"] else "same"
                for one in operations
            },
            "",
        )


def address(number: int) -> str:
    """Address of host ``number``."""
    return str(IPv4Network(SUBNET)[10 + number])
