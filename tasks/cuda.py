"""CUDA's compiler, which the engine builds its kernels with at start."""

from pyinfra.api import deploy

from glmstead import places
from glmstead.operations import cuda, driver
from glmstead.settings import Cluster, Settings


@deploy("CUDA compiler")
def install_compiler(settings: Settings, cluster: Cluster) -> None:
    if settings.cuda.source == "wheel":
        cuda.home_of_wheels(
            name=f"CUDA {settings.cuda.version} of the engine's wheels",
            environment=settings.engine.root,
            home=places.CUDA_HOME,
        )
    elif settings.cuda.source == "apt":
        driver.repository(name="CUDA repository", settings=settings, cluster=cluster)
        cuda.toolkit(name=f"CUDA {settings.cuda.version}", settings=settings)


@deploy("CUDA check")
def check_compiler(settings: Settings) -> None:
    """After the services' environment is written, which it is done in."""
    if settings.cuda.source != "none":
        cuda.compiles(name=f"A kernel for {settings.cuda.architecture}", settings=settings)
