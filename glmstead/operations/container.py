"""Docker for GPU images: bounded logs, devices by CDI, GPUs that a daemon-reload cannot take away."""

import json
from collections.abc import Generator
from hashlib import sha256

from packaging.version import InvalidVersion, Version
from pyinfra import host
from pyinfra.api import QuoteString, StringCommand, operation
from pyinfra.facts.deb import DebPackages

from glmstead import places
from glmstead.facts.container import ContainerEngine
from glmstead.facts.files import FileStates
from glmstead.gpu import tables
from glmstead.gpu.image_needs import is_met
from glmstead.operations import driver
from glmstead.operations.managed_files import ManagedFile, write_command
from glmstead.operations.refusal import refuse
from glmstead.settings import Cluster, Settings

Commands = Generator[StringCommand, None, None]
TOOLKIT = "nvidia-container-toolkit"
CONFIG, CDI = "/etc/docker/daemon.json", "/etc/cdi/nvidia.yaml"
# The daemon says itself what it was started with: at boot too, so that no deploy after a reboot
# restarts it, and with it the engine.
DROP_IN = ManagedFile(
    "/etc/systemd/system/docker.service.d/glmstead.conf",
    "[Service]\nExecStartPost=/bin/sh -c 'mkdir -p /run/glmstead && sha256sum <"
    f"{CONFIG} | cut -c1-64 >/run/glmstead/docker.started'\n",
)
FIRST_WITH_CDI = Version("25")


def daemon_file(settings: Settings) -> ManagedFile:
    """Docker's own configuration: logs that cannot fill the disk, devices by CDI."""
    container = settings.container
    options = {"max-size": f"{container.log_max_mb}m", "max-file": str(container.log_files)}
    values = {"log-driver": "json-file", "log-opts": options, "features": {"cdi": True}}
    return ManagedFile(CONFIG, json.dumps(values, indent=2) + "\n")


@operation()
def configured(settings: Settings) -> Commands:
    """
    Ensure Docker's configuration, and that the daemon was started with it.

    + settings: of this host
    """
    files = [daemon_file(settings), DROP_IN]
    digest = sha256(files[0].text.encode()).hexdigest()
    states = host.get_fact(FileStates, paths=[file.path for file in files])
    wrong = [file for file in files if states[file.path] != file.state]
    engine = host.get_fact(ContainerEngine, container=places.VLLM)
    if not wrong and engine["configured"] == digest:
        host.noop("the daemon runs as configured")
        return
    for file in wrong:
        yield write_command(file)
    yield StringCommand("systemctl daemon-reload && systemctl restart docker.service")


@operation()
def toolkit(settings: Settings, cluster: Cluster) -> Commands:
    """
    Ensure NVIDIA's container toolkit, from the driver's repository where the host lacks it.

    NVIDIA's repository of the driver has it too, since 1.13 (NVIDIA/nvidia-docker#1731).

    + settings: of this host
    + cluster: all hosts of the inventory
    """
    if TOOLKIT in host.get_fact(DebPackages):
        host.noop(f"{TOOLKIT} is installed")
        return
    yield from driver.repository._inner(settings=settings, cluster=cluster)
    yield from driver.refreshed(settings)
    yield driver.apt(settings, "install", "--no-install-recommends", TOOLKIT)


@operation()
def devices(settings: Settings) -> Commands:
    """
    Ensure the CDI specification of the driver that runs, so that containers get its libraries.

    + settings: of this host
    """
    found = host.get_fact(ContainerEngine, container=places.VLLM)
    if not has_cdi(found["version"]):
        yield refuse(
            f"Docker {found['version'] or 'none'} knows no CDI devices, 25 does: set "
            "container_packages to a newer Docker, such as docker-ce"
        )
    elif found["devices"] == found["driver"] != "":
        host.noop(f"devices of driver {found['driver']}")
    else:
        yield StringCommand("mkdir -p /etc/cdi && nvidia-ctk cdi generate --output", CDI)


def has_cdi(version: str) -> bool:
    """Whether a Docker takes ``--device=nvidia.com/gpu=all``."""
    try:
        return Version(version.split("+")[0]) >= FIRST_WITH_CDI
    except InvalidVersion:
        return False


@operation()
def suits_driver(image: str) -> Commands:
    """
    Refuse an image that wants a newer driver, before a container of it dies at its first kernel.

    + image: reference of an image that is on the host
    """
    found = host.get_fact(ContainerEngine, container=places.VLLM, image=image)
    cuda = tables.CUDA_OF.get(tables.branch(found["driver"]))
    if is_met(found["needs"], cuda, found["driver"]):
        host.noop(f"driver {found['driver']} will do")
    else:  # NVIDIA/nvidia-container-toolkit#152
        yield refuse(
            f"the image needs {found['needs'].split()[0]}, the driver is {found['driver']} "
            f"(CUDA {cuda}): set driver_source = 'apt' and a newer driver_version, or another image"
        )


@operation()
def keeps_gpus(unit: str) -> Commands:
    """
    Restart a running container that lost its GPUs; last, after every change of a unit.

    + unit: name of the unit and of its container
    """
    if host.get_fact(ContainerEngine, container=unit)["inside"] is False:
        yield StringCommand("systemctl restart", QuoteString(f"{unit}.service"))
    else:
        host.noop("it has its GPUs, or does not run")
