"""NVIDIA's driver: installed where the route says so, protected and proved on every GPU host."""

from pyinfra.api import deploy

from glmstead.operations import driver, gpu_host, protection, reboot
from glmstead.settings import Cluster, Settings


@deploy("Services")
def check_limits(settings: Settings, cluster: Cluster) -> None:
    """After every start: what an older unit gave its process is mended by then."""
    if settings.gpu.count:
        gpu_host.limits_as_declared(
            name="Limits of their processes", settings=settings, cluster=cluster
        )


@deploy("Driver")
def drive_gpus(settings: Settings, cluster: Cluster) -> None:
    if settings.driver.source == "none":
        return
    if settings.driver.source == "apt":
        version = settings.driver.version
        driver.repository(name="Driver repository", settings=settings, cluster=cluster)
        driver.installed(name=f"Driver {version}", settings=settings, cluster=cluster)
        driver.built(name="Module for every kernel", settings=settings, cluster=cluster)
    protection.protected(name="Driver and kernel are held", settings=settings, cluster=cluster)
    protection.proved(name="No upgrade moves them", settings=settings)
    if settings.driver.source == "apt":
        reboot.into_driver(name="The kernel runs the driver", settings=settings, cluster=cluster)
    driver.persistent(name="Persistence daemon")
    watts = settings.gpu.power_limit_w
    if watts is not None:
        gpu_host.power_limited(
            name=f"Power limit {watts} W", settings=settings, cluster=cluster, watts=watts
        )
    gpu_host.as_declared(name="GPUs as declared", settings=settings, cluster=cluster)
