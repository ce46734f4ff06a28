"""The record of a lab that is up: what inventories, tests and the command line read."""

import json
from dataclasses import dataclass
from pathlib import Path

from glmstead.lab.config import INTERFACE, LabConfig


@dataclass(frozen=True)
class LabHost:
    """One host: its name is also its host name and its alias in ``Lab.ssh_config``."""

    name: str
    address: str
    interface: str = INTERFACE


@dataclass(frozen=True)
class Lab:
    """A lab that ``lab up`` finished; a host may have been killed since."""

    hosts: tuple[LabHost, ...]
    subnet: str
    ssh_key: Path
    known_hosts: Path
    ssh_config: Path

    def host(self, name: str) -> LabHost | None:
        """The host of that name, or None."""
        return next((host for host in self.hosts if host.name == name), None)


def planned_lab(config: LabConfig, count: int) -> Lab:
    """The lab of ``count`` hosts that ``config`` describes, whether it is up or not."""
    return Lab(
        hosts=tuple(LabHost(name, str(config.address(name))) for name in config.host_names(count)),
        subnet=str(config.subnet),
        ssh_key=config.state / "id_ed25519",
        known_hosts=config.state / "known_hosts",
        ssh_config=config.state / "ssh_config",
    )


def lab_to_json(lab: Lab) -> str:
    """Text of lab.json."""
    record = {
        "hosts": [vars(host) for host in lab.hosts],
        "subnet": lab.subnet,
        "ssh_key": str(lab.ssh_key),
        "known_hosts": str(lab.known_hosts),
        "ssh_config": str(lab.ssh_config),
    }
    return json.dumps(record, indent=2) + "\n"


def lab_from_json(text: str) -> Lab:
    """Inverse of ``lab_to_json``; raises ValueError, KeyError or TypeError on other text."""
    record = json.loads(text)
    return Lab(
        hosts=tuple(LabHost(**host) for host in record["hosts"]),
        subnet=record["subnet"],
        ssh_key=Path(record["ssh_key"]),
        known_hosts=Path(record["known_hosts"]),
        ssh_config=Path(record["ssh_config"]),
    )


def read_lab(config: LabConfig | None = None) -> Lab | None:
    """The lab that is up, or None (also for one that was half made, and for other users)."""
    path = (config or LabConfig.from_environment()).state / "lab.json"
    try:
        return lab_from_json(path.read_text())
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_lab(config: LabConfig, lab: Lab) -> None:
    """Write lab.json in one step, so that a reader never sees half of it."""
    new = config.state / "lab.json.new"
    new.write_text(lab_to_json(lab))
    new.replace(config.state / "lab.json")
