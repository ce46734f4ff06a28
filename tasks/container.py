"""The container engine of image routes, and that its containers keep their GPUs."""

from collections.abc import Sequence

from pyinfra import host
from pyinfra.api import deploy
from pyinfra.facts.server import LinuxDistribution

from glmstead import places
from glmstead.operations import container
from glmstead.operations.debian import installed
from glmstead.settings import Cluster, Settings
from tasks.image import reference_of


@deploy("Container engine")
def install_engine(settings: Settings, cluster: Cluster) -> None:
    if settings.container.runtime != "docker":
        return
    gpus = settings.gpu.count > 0 and settings.container.toolkit
    packages = settings.container.packages
    installed(name="Docker", packages=[*packages, *command_of(packages)])
    if gpus:
        container.toolkit(name="NVIDIA's toolkit", settings=settings, cluster=cluster)
    container.configured(name="Docker's configuration", settings=settings)
    if gpus:
        container.devices(name="GPU devices for containers", settings=settings)


def command_of(packages: Sequence[str]) -> list[str]:
    """From Debian 13 on, docker.io only recommends the package that holds the command."""
    system = host.get_fact(LinuxDistribution).get("release_meta") or {}
    newer = system.get("ID") == "debian" and int(system.get("VERSION_ID", "13")) >= 13
    return ["docker-cli"] if newer and "docker.io" in packages else []


@deploy("Container image")
def check_image(settings: Settings) -> None:
    docker = settings.engine.kind == "container" and settings.container.runtime == "docker"
    if docker and settings.gpu.count:
        container.suits_driver(name="The driver is new enough", image=reference_of(settings))


@deploy("Container")
def keep_gpus(settings: Settings) -> None:
    if settings.container.runtime == "docker" and settings.gpu.count:
        container.keeps_gpus(name="The container has its GPUs", unit=places.VLLM)
