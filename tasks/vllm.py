"""The vLLM server on the head: configured everywhere first, started when the cluster is whole."""

from typing import Any

from pyinfra import host
from pyinfra.api import deploy

from glmstead import places
from glmstead.operations import units
from glmstead.operations.managed_files import managed_files
from glmstead.operations.server_configuration import server_configuration
from glmstead.serving import exec_line, exec_program, tidy
from glmstead.settings import Cluster, Settings
from glmstead.unit_files import engine_inputs, unit_file


@deploy("vLLM configuration")
def configure_server(settings: Settings, cluster: Cluster) -> None:
    if settings.engine.kind != "ray" or host.name != cluster.head.name:
        return
    server_configuration(name="vLLM arguments", settings=settings)
    managed_files(
        name="vLLM unit",
        files=unit_file(
            places.VLLM,
            inputs=[places.VLLM_CONFIG, places.MODEL_MANIFEST, *engine_inputs(settings)],
            user=settings.system.user,
            nofile=settings.system.nofile,
            allow_from=settings.cluster.allow_from,
            **commands(settings, cluster),
        ),
    )


@deploy("vLLM")
def serve_model(settings: Settings, cluster: Cluster) -> None:
    if settings.engine.kind != "ray":
        return
    units.running(name="vLLM has answered", unit=places.VLLM, here=host.name == cluster.head.name)


def commands(settings: Settings, cluster: Cluster) -> dict[str, Any]:
    """The command lines of the unit; a start may take the wait for Ray and then the load."""
    python, ray, vllm = f"{settings.engine.root}/bin/python", settings.ray, settings.vllm
    wait_s, longest_pause_s = 300, 270
    addresses = [member.address for member in cluster.members]
    gcs = f"{cluster.head.address}:{ray.port}"
    nodes = [gcs, str(settings.gpus_per_host), str(wait_s), *addresses]
    url = f"http://127.0.0.1:{vllm.port}"
    answer = [url, str(vllm.load_timeout_s), vllm.served_model_name]
    folder = f"/run/glmstead/{places.VLLM}"
    units = [f"{places.VLLM}.service", f"{places.RAY_HEAD}.service"]
    server = ["-m", "vllm.entrypoints.openai.api_server", "--config", places.VLLM_CONFIG]
    return {
        "ray_address": gcs,
        "may_start": exec_program("attempts.py", "may-start", folder),
        "ended": exec_program("attempts.py", "ended", folder, *units, str(vllm.settled_s)),
        "tidy": tidy(settings),
        "wait_nodes": exec_line([python, f"{places.LIBEXEC}/wait_ray_nodes.py", *nodes]),
        "command": exec_line([python, *server]),
        "wait_answer": exec_program("wait_answer.py", *answer),
        "drain": exec_program("drain.py", url, str(vllm.drain_timeout_s)),
        "drain_timeout_s": vllm.drain_timeout_s,
        "start_timeout_s": longest_pause_s + wait_s + vllm.load_timeout_s + 60,
    }
