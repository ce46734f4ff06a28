"""GPUs, driver and compiler: what can be refused before a host is asked."""

from collections.abc import Iterator

from packaging.version import Version

from glmstead.gpu import tables
from glmstead.lock import lock_path, pins
from glmstead.settings.model import Cluster, Settings
from glmstead.settings.problem import Problem


def boards(settings: Settings, cluster: Cluster) -> Iterator[Problem]:
    """A rank a GPU, and a driver where there are GPUs."""
    count, ranks = settings.gpu.count, settings.ray.gpus_per_host
    if count and ranks and count != ranks:
        yield Problem(
            "gpu_count", count, f"ray_gpus_per_host is {ranks}", f"set gpu_count to {ranks}"
        )
    if count and settings.driver.source == "none":
        fix = "set driver_source to image or apt"
        yield Problem("driver_source", "none", "there are GPUs, which need a driver", fix)


def driver_version(settings: Settings, cluster: Cluster) -> Iterator[Problem]:
    """The version is a good one, new enough, and no package brings another kind of module."""
    driver = settings.driver
    for package in driver.packages:
        if package.startswith("cuda-drivers"):
            # Closed modules up to r610, and nothing at all from r615 on: cupy/cupy#10295
            wrong, fix = "installs closed kernel modules, or nothing", "use nvidia-open"
            yield Problem("driver_packages", package, wrong, fix)
            return
    capability = settings.gpu.capability or "0"
    bring_open = not driver.packages or any("open" in package for package in driver.packages)
    if Version(capability) >= tables.OPEN_ONLY and not bring_open:
        wrong = f"none brings the open kernel modules, which compute capability {capability} needs"
        fix = "name an -open package, or leave it empty"
        yield Problem("driver_packages", driver.packages, wrong, fix)
    if driver.source != "apt":
        return
    if driver.version is None:
        fix = "give the full version, such as 580.159.04"
        yield Problem("driver_version", None, "a version is pinned with driver_source apt", fix)
        return
    if driver.version in tables.DENIED:
        wrong = f"known to be bad: {tables.DENIED[driver.version]}"
        yield Problem("driver_version", driver.version, wrong, "use another version")
    if Version(driver.version) < Version(driver.minimum):
        fix = f"use {driver.minimum} or newer"
        yield Problem("driver_version", driver.version, "older than driver_minimum", fix)


def toolkit(settings: Settings, cluster: Cluster) -> Iterator[Problem]:
    """Architecture, toolkit, lock and driver fit each other."""
    cuda = settings.cuda
    if cuda.source == "none":
        return
    least = tables.TOOLKIT_OF.get(cuda.architecture)
    if least is None:
        fix = f"use one of {', '.join(tables.TOOLKIT_OF)}"
        yield Problem("cuda_architecture", cuda.architecture, "unknown here", fix)
    elif Version(cuda.version) < Version(least):
        wrong = f"too old for {cuda.architecture}"
        yield Problem("cuda_version", cuda.version, wrong, f"use {least} or newer")
    branch = tables.driver_for(cuda.version)
    if branch is None or int(branch) > int(tables.branch(settings.driver.minimum)):
        wrong = f"a driver {settings.driver.minimum} refuses what CUDA {cuda.version} makes"
        fix = f"set driver_minimum to {branch} or newer" if branch else "use an older CUDA"
        yield Problem("cuda_version", cuda.version, wrong, fix)
    if "CUDA_HOME" in settings.engine.env:
        fix = "remove it, cuda_source sets it"
        value = settings.engine.env["CUDA_HOME"]
        yield Problem("engine_env.CUDA_HOME", value, "cuda_source is set too", fix)


def locked_kernels(settings: Settings, cluster: Cluster) -> Iterator[Problem]:
    """FlashInfer's compiled parts are of its own release (NVIDIA-NeMo/Gym#1405)."""
    if settings.engine.lock is None or not lock_path(settings.engine.lock).is_file():
        return
    text = lock_path(settings.engine.lock).read_text(encoding="utf-8")
    locked = pins(text, settings.engine.python)
    own = locked.get("flashinfer-python")
    for package in ("flashinfer-cubin", "flashinfer-jit-cache"):
        version = locked.get(package)
        if own and version and Version(version).public != Version(own).public:
            wrong = f"the lock has {package} {version} beside flashinfer-python {own}"
            fix = f"pin {package}=={own} and run scripts/lock"
            yield Problem("engine_lock", settings.engine.lock, wrong, fix)


def locked_toolkit(settings: Settings, cluster: Cluster) -> Iterator[Problem]:
    """From wheels, every part of the compiler is of the declared release, as torch's runtime is."""
    if settings.cuda.source != "wheel" or settings.engine.lock is None:
        return
    path = lock_path(settings.engine.lock)
    if not path.is_file():
        return
    locked = pins(path.read_text(encoding="utf-8"), settings.engine.python)
    parts = ("nvcc", "crt", "cccl", "runtime")
    for package in (*(f"nvidia-cuda-{part}" for part in parts), "nvidia-nvvm", "ninja"):
        version = locked.get(package)
        if version is None:
            fix = f"add it to files/locks/{settings.engine.lock}.in and run scripts/lock"
            yield Problem("cuda_source", "wheel", f"the lock has no {package}", fix)
        elif package != "ninja" and not version.startswith(f"{settings.cuda.version}."):
            wrong = f"the lock has {package} {version}: headers and compiler must be one release"
            fix = f"pin {package}=={settings.cuda.version}.* and run scripts/lock"
            yield Problem("cuda_version", settings.cuda.version, wrong, fix)
