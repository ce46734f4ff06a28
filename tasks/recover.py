"""A clean restart of the whole cluster, from whatever state it is in."""

from pyinfra import host
from pyinfra.api import deploy

from glmstead import places
from glmstead.operations import recovery
from glmstead.settings import Cluster, Settings


@deploy("Stop")
def stop_everything(settings: Settings, cluster: Cluster) -> None:
    """Engine first, so that it ends cleanly; the head last, so that no worker loses it."""
    is_head = host.name == cluster.head.name
    recovery.stopped(name="Watch", unit=places.WATCH, here=True)
    recovery.stopped(name="vLLM", unit=places.VLLM, here=is_head)
    recovery.stopped(name="Ray worker", unit=places.RAY_WORKER, here="worker" in host.groups)
    recovery.stopped(name="Ray head", unit=places.RAY_HEAD, here=is_head)
    recovery.released(name="Nothing of ours is left", user=settings.system.user)


@deploy("Log")
def read_log(settings: Settings, cluster: Cluster) -> None:
    is_head = host.name == cluster.head.name
    recovery.log_as_declared(name="The log is as declared", settings=settings, here=is_head)
