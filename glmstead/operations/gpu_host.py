"""GPU hosts: asked once each, judged alone and against the head."""

from collections.abc import Generator

from pyinfra import host
from pyinfra.api import Host, StringCommand, operation

from glmstead import places
from glmstead.facts.gpu_host import GpuHostState
from glmstead.gpu import fitness
from glmstead.gpu.equality import comparable, differences
from glmstead.gpu.values import GpuHost
from glmstead.operations.boot_units import applied_at_boot
from glmstead.operations.refusal import refuse
from glmstead.operations.units import peer
from glmstead.render import render
from glmstead.serving import engine_environment
from glmstead.settings import Cluster, Settings

# What compilers look at; the rest of the services' environment is not sent.
_COMPILER = ("PATH", "CUDA_HOME", "HOME", "LD_LIBRARY_PATH", "CC", "CXX", "CUDACXX")


def gpu_host_of(target: Host, settings: Settings, cluster: Cluster) -> GpuHost:
    """Ask one host: one round trip."""
    environment = engine_environment(settings)
    found: GpuHost = target.get_fact(
        GpuHostState,
        user=settings.system.user,
        environment={name: environment[name] for name in _COMPILER if name in environment},
        units=list(places.ENGINE_UNITS),
        peers=[one.address for one in cluster.members if one.name != target.name],
    )
    return found


def gpu_problems(target: Host, settings: Settings, cluster: Cluster) -> list[str]:
    """Reasons to refuse a host before anything is changed; no question where no GPU is needed."""
    if not settings.gpu.count:
        return []
    found = gpu_host_of(target, settings, cluster)
    return fitness.before(found, settings) + unlike_head(target, found, settings, cluster)


def unlike_head(target: Host, found: GpuHost, settings: Settings, cluster: Cluster) -> list[str]:
    """What a host has otherwise than the head, when both are as they will stay."""
    head = cluster.head
    if target.name == head.name:
        return []
    if settings.driver.source == "apt" and not fitness.is_installed(found, settings):
        return []
    theirs = comparable(gpu_host_of(peer(head.name), settings, cluster), head.address)
    return differences(comparable(found, settings.cluster.address), theirs, head.name)


@operation()
def power_limited(
    settings: Settings, cluster: Cluster, watts: int
) -> Generator[StringCommand, None, None]:
    """
    Ensure the power limit of every GPU, now and after a reboot.

    + settings: of this host
    + cluster: all hosts of the inventory
    + watts: the limit, W
    """
    found = gpu_host_of(host, settings, cluster)
    text = render("systemd/glmstead-power.service.j2", watts=watts)
    limited = all(gpu.power_limit_w == watts for gpu in found.gpus)
    yield from applied_at_boot("glmstead-power", text, now=limited)


@operation()
def limits_as_declared(
    settings: Settings, cluster: Cluster
) -> Generator[StringCommand, None, None]:
    """
    Refuse unless running services have the limits that their units declare.

    + settings: of this host
    + cluster: all hosts of the inventory
    """
    found = gpu_host_of(host, settings, cluster)
    lines = fitness.of_services(found, settings)
    if lines:
        yield refuse("; ".join(lines))
    else:
        host.noop("services have the limits they declare")


@operation()
def as_declared(settings: Settings, cluster: Cluster) -> Generator[StringCommand, None, None]:
    """
    Refuse this host unless its driver runs and shows every GPU that is declared.

    + settings: of this host
    + cluster: all hosts of the inventory
    """
    found = gpu_host_of(host, settings, cluster)
    lines = fitness.after(found, settings) + unlike_head(host, found, settings, cluster)
    if lines:
        yield refuse("; ".join(lines))
    else:
        host.noop(f"{len(found.gpus)} GPUs with driver {found.driver.loaded}")
