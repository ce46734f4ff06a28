"""The vLLM server of one host, without Ray: configured, then started until it has answered."""

from typing import Any

from pyinfra import host
from pyinfra.api import deploy

from glmstead import places
from glmstead.operations import units
from glmstead.operations.managed_files import ManagedFile, managed_files
from glmstead.operations.server_configuration import server_configuration
from glmstead.render import env_file
from glmstead.serving import engine_environment, exec_line, exec_program, gpus_free
from glmstead.settings import Cluster, Settings
from glmstead.unit_files import engine_inputs, unit_file

LONGEST_PAUSE_S = 270  # of attempts.py


@deploy("vLLM configuration")
def configure_server(settings: Settings, cluster: Cluster) -> None:
    if settings.engine.kind != "single":
        return
    managed_files(
        name="Environment of the engine",
        files=[ManagedFile(places.ENGINE_ENV, env_file(engine_environment(settings)))],
    )
    server_configuration(name="vLLM arguments", settings=settings)
    python = f"{settings.engine.root}/bin/python"
    server = ["-m", "vllm.entrypoints.openai.api_server", "--config", places.VLLM_CONFIG]
    overlay = [places.OVERLAY] if settings.overlay.name else []
    managed_files(
        name="vLLM unit",
        files=unit_file(
            places.VLLM,
            template="vllm-single",
            inputs=[
                places.VLLM_CONFIG,
                places.MODEL_MANIFEST,
                *engine_inputs(settings),
                *overlay,
            ],
            user=settings.system.user,
            nofile=settings.system.nofile,
            allow_from=settings.cluster.allow_from,
            command=exec_line([python, *server]),
            **around(settings),
        ),
    )


@deploy("vLLM")
def serve_model(settings: Settings, cluster: Cluster) -> None:
    if settings.engine.kind == "ray":
        return
    units.running(name="vLLM has answered", unit=places.VLLM, here=host.name == cluster.head.name)


def around(settings: Settings) -> dict[str, Any]:
    """What a unit of one host runs before, beside and after the server itself."""
    vllm = settings.vllm
    url = f"http://127.0.0.1:{vllm.port}"
    folder = f"/run/glmstead/{places.VLLM}"
    thinking = "on" if vllm.thinking else "off"
    template = ["chat_template.py", settings.model.path, thinking, places.CHAT_TEMPLATE]
    answer = [url, str(vllm.load_timeout_s), vllm.served_model_name]
    ended = [f"{places.VLLM}.service", "", str(vllm.settled_s)]  # nothing else to restart
    return {
        "may_start": exec_program("attempts.py", "may-start", folder),
        "gpus_free": gpus_free(settings),
        "chat_template": None if vllm.thinking is None else exec_program(*template),
        "wait_answer": exec_program("wait_answer.py", *answer),
        "drain": exec_program("drain.py", url, str(vllm.drain_timeout_s)),
        "ended": exec_program("attempts.py", "ended", folder, *ended),
        "drain_timeout_s": vllm.drain_timeout_s,
        "start_timeout_s": LONGEST_PAUSE_S + vllm.load_timeout_s + 60,
    }
