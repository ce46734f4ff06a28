"""Why a GPU host will not do: one line a reason, each with its fix; empty when it will.

``before`` is asked in preflight, when nothing was changed yet: what the driver task is going to
install is not asked for. ``after`` is asked when the driver is in place.
"""

from collections.abc import Iterator

from packaging.version import Version

from glmstead.gpu import tables
from glmstead.gpu.driver import is_driver_package, upstream
from glmstead.gpu.packaging import driver_packages
from glmstead.gpu.values import GpuHost
from glmstead.settings import Settings

MIB, GIB, BOOT_FREE = 2**20, 1024, 300 * 10**6


def before(found: GpuHost, settings: Settings) -> list[str]:
    """Reasons to refuse a host before anything is changed on it."""
    lines = [f"{one.what}: {one.fix}" for one in found.findings if not _is_mended(found, settings)]
    lines += _network(found, settings)
    lines += _memory(found, settings)
    if settings.driver.source == "apt" and not is_installed(found, settings):
        return [*lines, *_boards(found, settings), *_installable(found, settings)]
    return [*lines, *after(found, settings)]


def after(found: GpuHost, settings: Settings) -> list[str]:
    """Reasons to refuse a host whose driver is in place."""
    lines = [*_driver(found, settings), *_limits(found, settings)]
    if found.smi == "ok":
        lines += [*_gpus(found, settings)]
    return lines


def is_installed(found: GpuHost, settings: Settings) -> bool:
    """Whether the packages are those of the declared version, all of them and no others."""
    driver, packages = settings.driver, found.driver.packages
    versions = {upstream(v) for name, v in packages.items() if is_driver_package(name)}
    wanted = driver_packages(driver, found.system) if driver.version else []
    return versions == {driver.version} and all(name in packages for name in wanted)


def _is_mended(found: GpuHost, settings: Settings) -> bool:
    """Whether the driver task replaces the driver that complained."""
    return settings.driver.source == "apt" and not is_installed(found, settings)


def _boards(found: GpuHost, settings: Settings) -> Iterator[str]:
    """What PCI tells without a driver."""
    wanted, count = settings.gpu.count, len(found.pci_gpus)
    if count != wanted:
        yield f"{count} NVIDIA GPUs on PCI, {wanted} needed: attach them, or set gpu_count"


def _installable(found: GpuHost, settings: Settings) -> Iterator[str]:
    """What would stop the driver task halfway."""
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


def _driver(found: GpuHost, settings: Settings) -> Iterator[str]:
    driver, state = found.driver, found.smi
    shown = ", ".join(driver.libraries) or "none"
    if len(driver.libraries) > 1:
        yield f"driver packages of several versions ({shown}): install all of one repository"
    elif driver.loaded and driver.libraries and driver.loaded not in driver.libraries:
        yield f"module {driver.loaded} is loaded, the packages are {shown}: reboot the host"
    elif state == "mismatch":
        yield f"nvidia-smi: {found.smi_error}: reboot the host"
    if state == "missing":
        yield "nvidia-smi is not installed: set driver_source = 'apt', or use a driver image"
    elif state == "hung":
        yield f"nvidia-smi hangs ({found.smi_error}): a GPU is wedged, power-cycle the host"
    elif state == "not loaded":
        yield _not_loaded(found)
    elif state == "no devices":
        yield f"nvidia-smi: No devices were found, {len(found.pci_gpus)} on PCI: {_cause(found)}"
    elif state == "failed":
        yield f"nvidia-smi fails ({found.smi_error}): reboot the host, look at journalctl -k"
    if driver.loaded and Version(driver.loaded) < Version(settings.driver.minimum):
        yield (
            f"driver {driver.loaded} is older than {settings.driver.minimum}, which the pinned "
            "torch needs: set driver_source = 'apt' and driver_version"
        )
    reason = tables.DENIED.get(driver.loaded or "")
    if reason:
        yield f"driver {driver.loaded} is known to be bad, {reason}: use another version"


def _not_loaded(found: GpuHost) -> str:
    if found.driver.nouveau:
        return "nouveau holds the GPUs: run the driver task (driver_source = 'apt') and reboot"
    if not found.driver.built.get(found.kernel):
        return (
            f"kernel {found.kernel} has no NVIDIA module: install its headers and run "
            f"dkms autoinstall -k {found.kernel}, or boot a kernel that has one"
        )
    return f"the NVIDIA module is not loaded: modprobe nvidia; {_cause(found)}"


def _cause(found: GpuHost) -> str:
    if found.driver.is_open is False:
        return "closed modules are loaded, newer boards need nvidia-open"
    return "look at journalctl -k"


def _gpus(found: GpuHost, settings: Settings) -> Iterator[str]:
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
    for gpu in gpus:
        yield from _gpu(gpu.index, gpu.capability, gpu.memory_mib, gpu.mig, settings)
        closed = found.driver.is_open is False and Version(gpu.capability) >= tables.OPEN_ONLY
        if closed and gpu.index == gpus[0].index:
            yield f"closed kernel modules with compute capability {gpu.capability}: use nvidia-open"
    if found.acs_bridges and found.iommu and not wanted.p2p_over_acs:
        yield (
            f"access control (ACS) is on at {found.acs_bridges} PCI bridges and the IOMMU "
            "translates, which hangs P2P: turn ACS and IOMMU off in the firmware, or set "
            "gpu_p2p_over_acs and let glmstead nccl decide"
        )


def _gpu(
    index: int, capability: str, memory_mib: int, mig: bool, settings: Settings
) -> Iterator[str]:
    wanted = settings.gpu
    if wanted.capability and capability != wanted.capability:
        yield f"GPU {index} has compute capability {capability}, not {wanted.capability}"
    if mig:
        yield f"GPU {index} is split (MIG): nvidia-smi -i {index} -mig 0"
    elif wanted.memory_gib and memory_mib < wanted.memory_gib * GIB:
        needed = f"{wanted.memory_gib:g} needed"
        yield f"GPU {index} has {memory_mib / GIB:.1f} GiB, {needed}: use the route for this GPU"


def _limits(found: GpuHost, settings: Settings) -> Iterator[str]:
    """What running services really have, whatever their units declare."""
    for unit, limits in found.limits.items():
        files = limits.get("Max open files", "unlimited")
        if files.isdigit() and int(files) < settings.system.nofile:
            yield (
                f"{unit} runs with {files} open files, {settings.system.nofile} declared: "
                f"raise the host's fs.nr_open, then systemctl restart {unit}"
            )


def _network(found: GpuHost, settings: Settings) -> Iterator[str]:
    """Interfaces exist, and Gloo's is the one that leads to the peers."""
    names = [nic.name for nic in found.nics]
    for key, name in (
        ("cluster_interface", settings.cluster.interface),
        *(("nccl_socket_interfaces", name) for name in settings.nccl.socket_interfaces),
    ):
        if name not in names:
            yield f"there is no interface {name} (found {', '.join(names)}): set {key} of this host"
    for peer, interface in found.routes.items():
        if interface != settings.cluster.interface:
            yield (
                f"{peer} is reached through {interface or 'nothing'}, cluster_interface is "
                f"{settings.cluster.interface}: set it to the interface of that route"
            )


def _memory(found: GpuHost, settings: Settings) -> Iterator[str]:
    wanted = settings.system.shm_gb
    if wanted is not None and found.shm < wanted * 1e9:
        yield (
            f"/dev/shm has {found.shm / 1e9:.1f} GB, {wanted:g} needed: "
            "mount -o remount,size=... /dev/shm"
        )
    if found.clock_synchronised is False:
        yield "the clock is not synchronised: timedatectl set-ntp true"


def holders_of(found: GpuHost, ours: frozenset[int]) -> list[str]:
    """Lines for processes that hold GPU memory and are not ``ours``."""
    return [
        f"{one.process or 'a process'} (pid {one.pid}) holds {one.used_mib or '?'} MiB of {one.gpu}"
        for one in found.holders
        if one.pid not in ours
    ]
