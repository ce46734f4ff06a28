"""What surrounds the GPUs: limits of running services, interfaces, shared memory, the clock."""

from collections.abc import Iterator

from glmstead.gpu.values import GpuHost
from glmstead.settings import Settings

STACK = 64 * 2**20  # as templates/systemd/_engine.j2 declares
_RIGHTS = "let its systemd or Docker raise limits (CAP_SYS_RESOURCE)"
_LIMITS = {
    "nofile": ("Max open files", "raise the host's fs.nr_open"),
    "memlock": ("Max locked memory", _RIGHTS),
    "stack": ("Max stack size", _RIGHTS),
}


def limits(found: GpuHost, settings: Settings) -> Iterator[str]:
    """What running services really have, whatever their units declare."""
    for unit, has in found.limits.items():
        for name, (words, fix) in _LIMITS.items():
            wanted, value = _wanted(settings).get(name, 0), has.get(words, "unlimited")
            if value != "unlimited" and (wanted == -1 or int(value) < wanted):
                needed = "unlimited" if wanted == -1 else wanted
                yield (
                    f"{unit} runs with {value} {words.removeprefix('Max ')}, {needed} declared: "
                    f"{fix}, then systemctl restart {unit}"
                )


def _wanted(settings: Settings) -> dict[str, int]:
    """Limits by name, -1 for none; a container's are those it is started with."""
    container = settings.engine.kind == "container"
    own = settings.image.ulimits if container else {"memlock": -1, "stack": STACK}
    return {"nofile": settings.system.nofile, **own}


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
