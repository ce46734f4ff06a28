"""What surrounds the GPUs: limits of running services, interfaces, shared memory, the clock."""

from collections.abc import Iterator

from glmstead.gpu.values import GpuHost
from glmstead.settings import Settings


def limits(found: GpuHost, settings: Settings) -> Iterator[str]:
    """What running services really have, whatever their units declare."""
    for unit, limits in found.limits.items():
        files = limits.get("Max open files", "unlimited")
        if files.isdigit() and int(files) < settings.system.nofile:
            yield (
                f"{unit} runs with {files} open files, {settings.system.nofile} declared: "
                f"raise the host's fs.nr_open, then systemctl restart {unit}"
            )


def surroundings(found: GpuHost, settings: Settings) -> Iterator[str]:
    """What preflight asks of the host besides its GPUs."""
    yield from _network(found, settings)
    yield from _memory(found, settings)


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
