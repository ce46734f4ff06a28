"""Up, down and the acts on one host. Callers hold the lab's lock."""

import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from glmstead.lab import machine, network, packages, ssh, wheels
from glmstead.lab.config import LabConfig, LabError
from glmstead.lab.host_root import ensure_root
from glmstead.lab.image import ensure_image
from glmstead.lab.process import last_line, remove_tree, wait_until
from glmstead.lab.progress import Progress
from glmstead.lab.state import Lab, LabHost, planned_lab, read_lab, write_lab

BOOT_TIMEOUT_S = 90.0
IS_UP = "systemctl is-system-running --wait"
BOOT_ID = "cat /proc/sys/kernel/random/boot_id"


def existing_hosts(config: LabConfig) -> list[str]:
    """Names of the hosts that have a disk, lab1 first."""
    names = [path.name for path in config.hosts.glob(f"{config.name}[0-9]*")]
    return sorted(names, key=lambda name: int(name.removeprefix(config.name)))


def is_up(config: LabConfig, lab: Lab | None, count: int) -> bool:
    """True if the lab has exactly ``count`` hosts and all of them answer."""
    if lab is None or len(lab.hosts) != count or lab.subnet != str(config.subnet):
        return False
    return all(
        machine.is_running(config, host.name) and ssh.answer(lab, host, "hostname") == host.name
        for host in lab.hosts
    )


def up(config: LabConfig, count: int, with_wheels: bool) -> dict[str, str]:
    """Bring the lab to ``count`` running hosts; what systemd says of each, by name.

    Raises LabError if a host does not come up.
    """
    image = ensure_image(config)
    config.wheels.mkdir(parents=True, exist_ok=True)
    if with_wheels:
        wheels.ensure_wheels(config)
    (config.state / "lab.json").unlink(missing_ok=True)
    remove_hosts(config, existing_hosts(config)[count:])
    lab = planned_lab(config, count)
    ssh.make_key(lab.ssh_key, f"glmstead-{config.name}")
    network.bring_up(config)
    states = start_all(config, lab, image)
    write_lab(config, lab)
    return states


def start_all(config: LabConfig, lab: Lab, image: Path) -> dict[str, str]:
    """Make the disks that are missing and start the hosts that are off, all at once."""
    names = [host.name for host in lab.hosts]
    config.hosts.mkdir(exist_ok=True)
    what = f"Starting {' '.join(names)}"
    with Progress(what) as progress, ThreadPoolExecutor(len(names)) as pool:
        mtu, resolv_conf = network.mtu(), network.usable_resolv_conf()
        list(pool.map(lambda name: ensure_root(config, name, image, mtu, resolv_conf), names))
        ssh.write_client_files(config, lab)
        states = list(pool.map(lambda host: start(config, lab, host, progress), lab.hosts))
    return dict(zip(names, states, strict=True))


def start(config: LabConfig, lab: Lab, host: LabHost, progress: Progress) -> str:
    """Boot a host unless it runs, and wait for it; what systemd says of it."""
    running = machine.is_running(config, host.name)
    keeper = None if running else machine.boot(config, host.name)

    def probe() -> str | None:
        progress.update(f"waiting for {host.name}")
        require_alive(config, host, keeper)
        answer = ssh.answer(lab, host, IS_UP, BOOT_TIMEOUT_S)
        return answer if answer in ("running", "degraded") else None

    state = wait_until(probe, BOOT_TIMEOUT_S)
    if state is None:
        raise LabError(f"{host.name} does not answer: see {machine.log_path(config, host.name)}")
    return state


def require_alive(
    config: LabConfig, host: LabHost, keeper: "subprocess.Popen[bytes] | None"
) -> None:
    """Raise LabError with the host's last words if its keeper has ended."""
    if keeper is not None and keeper.poll() is not None:
        log = machine.log_path(config, host.name).read_text(errors="replace")
        words = [line for line in log.splitlines() if not line.startswith("keeper:")]
        raise LabError(f"{host.name} does not boot: {last_line(chr(10).join(words))}")


def reboot(config: LabConfig, lab: Lab, host: LabHost) -> None:
    """Reboot a host from inside and wait until it is back; raises LabError if it is not."""
    before = ssh.answer(lab, host, BOOT_ID)
    if before is None:
        raise LabError(f"{host.name} does not answer: start it with `glmstead lab up`")
    ssh.answer(lab, host, "systemctl reboot")

    def probe() -> str | None:
        now = ssh.answer(lab, host, BOOT_ID)
        return now if now != before else None

    if wait_until(probe, BOOT_TIMEOUT_S) is None:
        raise LabError(f"{host.name} is not back: see {machine.log_path(config, host.name)}")


def remove_hosts(config: LabConfig, hosts: list[str]) -> None:
    """Power hosts off and delete their disks; what apt downloaded on them is kept."""
    machine.power_off(config, hosts)
    packages.take_back(config, hosts)
    for host in hosts:
        remove_tree(config.root(host))


def down(config: LabConfig) -> None:
    """Leave nothing of the lab but its caches, whatever state it was in."""
    (config.state / "lab.json").unlink(missing_ok=True)
    machine.power_off(config, existing_hosts(config))
    machine.clear_left_overs(config)
    packages.take_back(config, existing_hosts(config))
    if shutil.which("nft") and shutil.which("ip"):
        network.take_down(config)
    remove_tree(config.state)


def known_host(config: LabConfig, name: str) -> tuple[Lab, LabHost]:
    """The lab and its host of that name; raises LabError naming the hosts there are."""
    lab = read_lab(config)
    if lab is None:
        raise LabError("no lab is up: glmstead lab up")
    host = lab.host(name)
    if host is None:
        names = " ".join(host.name for host in lab.hosts)
        raise LabError(f"no host {name}: the lab has {names}")
    return lab, host
