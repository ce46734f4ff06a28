"""What would stop the driver task halfway, asked before anything is changed."""

from collections.abc import Iterator

from glmstead.gpu import tables
from glmstead.gpu.values import GpuHost
from glmstead.settings import Settings

BOOT_FREE = 300 * 10**6  # bytes


def problems(found: GpuHost, settings: Settings) -> Iterator[str]:
    """What PCI tells without a driver, and what apt, /boot and the kernels would say to one."""
    wanted, count = settings.gpu.count, len(found.pci_gpus)
    if count != wanted:
        yield f"{count} NVIDIA GPUs on PCI, {wanted} needed: attach them, or set gpu_count"

    system = " ".join(found.system)
    if found.system not in tables.REPOSITORIES and settings.driver.repository is None:
        yield f"no driver repository for {system}: set driver_repository, or use Debian or Ubuntu"
    if found.apt_broken:
        yield f"half-installed packages ({found.apt_broken}): run dpkg --configure --pending"
    if found.boot_free < BOOT_FREE:
        free = found.boot_free // 10**6
        yield f"{free} MB free in /boot, 300 needed for a new initramfs: remove old kernels"
    if found.secure_boot:
        yield (
            "Secure Boot is on and would reject the module that is built here: turn it off, or use "
            "an image with a signed driver and driver_source = 'image'"
        )
    for kernel in found.kernels or (found.kernel,):
        if tables.kernel_is_too_new(kernel, str(settings.driver.version)):
            yield (
                f"driver {settings.driver.version} does not build on kernel {kernel}: "
                "boot an older kernel and remove it, or set a newer driver_version"
            )
