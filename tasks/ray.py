"""Ray over all hosts: the head first, then the workers that join it."""

from pyinfra import host
from pyinfra.api import deploy

from glmstead import places
from glmstead.operations import secrets, units
from glmstead.operations.managed_files import ManagedFile, managed_files
from glmstead.render import env_file
from glmstead.serving import engine_environment, exec_line, exec_program, gpus_free, ray_start, tidy
from glmstead.settings import Cluster, Settings
from glmstead.unit_files import engine_inputs, unit_file


@deploy("Ray configuration")
def configure_node(settings: Settings, cluster: Cluster) -> None:
    if settings.engine.kind != "ray":
        return
    user = settings.system.user
    if host.name == cluster.head.name:
        secrets.generated(name="Ray token", path=places.RAY_TOKEN, owner=f"{user}:{user}")
    secrets.same_secret_as(
        name="Ray token of the head",
        other=cluster.head.name,
        path=places.RAY_TOKEN,
        owner=f"{user}:{user}",
    )
    managed_files(
        name="Environment of the engine",
        files=[ManagedFile(places.ENGINE_ENV, env_file(engine_environment(settings)))],
    )
    is_head = host.name == cluster.head.name
    unit, other = (places.RAY_HEAD, places.RAY_WORKER)[:: 1 if is_head else -1]
    command = ray_start(settings, None if is_head else cluster.head.address)
    wait_s = 300
    wait = ["wait_port.py", cluster.head.address, str(settings.ray.port), str(wait_s)]
    managed_files(
        name="Ray unit",
        files=unit_file(
            unit,
            inputs=[places.RAY_TOKEN, *engine_inputs(settings)],
            user=user,
            nofile=settings.system.nofile,
            allow_from=settings.cluster.allow_from,
            command=exec_line(command),
            wait_head=exec_program(*wait),
            wait_s=wait_s,
            tidy=tidy(settings),
            gpus_free=gpus_free(settings),
        ),
        absent=[f"{places.UNITS}/{other}.service"],
    )


@deploy("Ray cluster")
def start_cluster(settings: Settings, cluster: Cluster) -> None:
    if settings.engine.kind != "ray":
        return
    head = cluster.head.name
    ranks = {member.name: places.RAY_WORKER for member in cluster.workers}
    units.stopped_before_its_ranks(
        name="Stop vLLM before a rank restarts",
        unit=places.VLLM,
        here=host.name == head,
        ranks={head: places.RAY_HEAD, **ranks},
    )
    units.running(name="Ray head", unit=places.RAY_HEAD, here=host.name == head)
    # After the head: workers never rejoin a restarted one (ray-project/ray#64349).
    units.running(
        name="Ray worker",
        unit=places.RAY_WORKER,
        here="worker" in host.groups,
        same_ray_session_as=head,
    )
