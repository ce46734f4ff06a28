"""A host that looks as if it had a GPU, with a driver repository of its own (stand_ins.sh)."""

from dataclasses import dataclass, field

from tests.lab.gpu.machines import HERE, PROTECTED, Data, Machines, Outcome, address

# They share a prefix with what is protected, and may move.
FREE = ("linux-sysctl-defaults", "nvidia-container-toolkit")
TOOLS = ("apt-utils", "gpg", "gpg-agent", "unattended-upgrades")


@dataclass
class DriverHost:
    """Host 1, and how its driver is deployed."""

    machines: Machines
    data: Data = field(default_factory=dict)

    def prepare(self, kernel: str, *versions: str, alone: bool = True) -> None:
        """A repository with these drivers, an older kernel, NVIDIA among the allowed origins.

        ``alone``: without the distribution's own lists, which every apt would read for seconds.
        """
        self.machines.install(1, *TOOLS)
        if alone:
            self.ssh("rm -rf /etc/apt/sources.list /etc/apt/sources.list.d/* && apt-get update")
        self.publish(*versions)
        self.ssh(f"cd /srv/repo && dpkg -i {kernel} >/dev/null")
        origins = 'Unattended-Upgrade::Origins-Pattern { "origin=NVIDIA"; };\n'
        self.ssh("cat >/etc/apt/apt.conf.d/51site", stdin=origins)
        self.data = {
            "gpu_count": 1,
            "driver_source": "apt",
            "driver_version": "580.159.03",
            "driver_repository": f"http://{address(1)}:8099",
            "driver_key_url": f"http://{address(1)}:8099/key.pub",
            "driver_key_fingerprint": self.ssh("cat /srv/repo/fingerprint"),
            "driver_allow_reboot": True,
            "driver_reboot_timeout_s": 90,
            "driver_lock_wait_s": 3,
        }

    def ssh(self, command: str, stdin: str = "") -> str:
        """What a command prints there."""
        return self.machines.ssh(1, command, stdin)

    def deploy(self, **changed: object) -> Outcome:
        """Deploy the driver's task."""
        return self.machines.deploy("only_driver.py", 1, data={**self.data, **changed})

    def versions(self) -> dict[str, str]:
        """Installed packages of driver and kernel."""
        rows = self.ssh("dpkg-query -W -f '${db:Status-Abbrev}|${Package}|${Version}\n'")
        cells = [row.split("|") for row in rows.splitlines()]
        return {
            name: version
            for state, name, version in cells
            if state[1] == "i" and name.startswith(PROTECTED) and name not in FREE
        }

    def publish(self, *versions: str) -> None:
        """Driver versions that the repository offers from now on."""
        script = (HERE / "stand_ins.sh").read_text()
        self.ssh(f"bash -s {' '.join(versions)}", stdin=script)

    def moves(self) -> list[str]:
        """Protected packages that apt or unattended-upgrades would move, as they say themselves."""
        said = self.ssh(
            "apt-get update -qq; apt-get -s dist-upgrade | grep '^Inst\\|^Remv'; "
            "unattended-upgrade --dry-run -v 2>&1 | grep 'will be upgraded' || true"
        )
        return sorted({word for word in said.split() if word.startswith(PROTECTED)})
