"""The GPUs that the driver shows: how many, which, whole, and free to talk to each other."""

from collections.abc import Iterator

from packaging.version import Version

from glmstead.gpu import tables
from glmstead.gpu.values import Gpu, GpuHost
from glmstead.settings import Settings

GIB = 1024  # MiB


def problems(found: GpuHost, settings: Settings) -> Iterator[str]:
    """Count and models, each GPU, and what stands between them."""
    yield from _together(found, settings)
    for gpu in found.gpus:
        yield from _gpu(gpu, settings)
    newer = [gpu.capability for gpu in found.gpus if Version(gpu.capability) >= tables.OPEN_ONLY]
    if newer and found.driver.is_open is False:
        yield f"closed kernel modules with compute capability {newer[0]}: use nvidia-open"
    if found.acs_bridges and found.iommu and not settings.gpu.p2p_over_acs:
        yield (
            f"access control (ACS) is on at {found.acs_bridges} PCI bridges and the IOMMU "
            "translates, which hangs P2P: turn ACS and IOMMU off in the firmware, or set "
            "gpu_p2p_over_acs and let glmstead nccl decide"
        )


def _together(found: GpuHost, settings: Settings) -> Iterator[str]:
    wanted, gpus = settings.gpu, found.gpus
    names = sorted({gpu.name for gpu in gpus})
    if len(gpus) != wanted.count:
        lost = sorted(set(found.pci_gpus) - {gpu.pci for gpu in gpus})
        where = f" (without driver: {', '.join(lost)})" if lost else ""
        yield f"{len(gpus)} GPUs{where}, {wanted.count} needed: reboot, or set gpu_count"
    if len(names) > 1:
        yield f"GPUs of several models ({', '.join(names)}): use equal ones"
    for name in names:
        if wanted.model and wanted.model not in name:
            yield f"{name}, but the route is for {wanted.model}: use its route, or set gpu_model"


def _gpu(gpu: Gpu, settings: Settings) -> Iterator[str]:
    wanted, index = settings.gpu, gpu.index
    if wanted.capability and gpu.capability != wanted.capability:
        yield f"GPU {index} has compute capability {gpu.capability}, not {wanted.capability}"
    if gpu.mig:
        yield f"GPU {index} is split (MIG): nvidia-smi -i {index} -mig 0"
    elif wanted.memory_gib and gpu.memory_mib < wanted.memory_gib * GIB:
        needed = f"{wanted.memory_gib:g} needed"
        has = f"{gpu.memory_mib / GIB:.1f} GiB"
        yield f"GPU {index} has {has}, {needed}: use the route for this GPU"
