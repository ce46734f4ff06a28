"""What the engine's container is started with, computed from settings; no I/O."""

import json
import shlex
from typing import Any

from glmstead import places
from glmstead.serving import vllm_config
from glmstead.settings import Settings

Value = bool | int | float | str | list[str] | dict[str, Any]


def container_environment(settings: Settings) -> dict[str, str]:
    """Environment of the engine in its image: no path of the host, no interface of its own."""
    return {
        "HF_HUB_OFFLINE": "1",
        "VLLM_NO_USAGE_STATS": "1",
        **settings.nccl.env,
        **settings.engine.env,
    }


def container_env_file(settings: Settings) -> str:
    """Text of ``--env-file``: Docker takes a line as it is, Apptainer evaluates it as a shell."""
    values = container_environment(settings)
    if settings.container.runtime == "docker":
        return plain_env_file(values)
    return plain_env_file({name: shlex.quote(value) for name, value in values.items()})


def plain_env_file(values: dict[str, str]) -> str:
    """A line a variable, each taken as it is."""
    return "".join(f"{name}={value}\n" for name, value in sorted(values.items()))


def image_reference(settings: Settings) -> str:
    """An image that is not built here, by what cannot move: its manifest's digest or its id."""
    image = settings.image
    return f"{image.name}@{image.digest}" if image.source == "registry" else str(image.digest)


def words_of(config: dict[str, Value]) -> list[str]:
    """A configuration as command-line words; forks of vLLM misread nested values in its file."""
    model, *words = [str(config["model"])]
    for name, value in config.items():
        if name == "model":
            continue
        if isinstance(value, bool):
            words += [f"--{name}"] if value else [f"--no-{name}"]
        elif isinstance(value, dict):
            words += [f"--{name}", json.dumps(value, separators=(",", ":"))]
        elif isinstance(value, list):
            words += [f"--{name}", *value]
        else:
            words += [f"--{name}", str(value)]
    return [model, *words]


def server_words(settings: Settings, layer_map: str | None) -> list[str]:
    """The engine's own command line, as the image runs it."""
    words = [*settings.image.entry, *words_of(vllm_config(settings, layer_map))]
    return without_unset(settings, words)


def without_unset(settings: Settings, words: list[str]) -> list[str]:
    """A command that does not see the image's variables that must not be seen."""
    unset = [word for name in settings.image.unset for word in ("-u", name)]
    return [*(["env", *unset] if unset else []), *words]


def docker_run(settings: Settings, reference: str, words: list[str]) -> list[str]:
    """``docker run`` in the foreground: systemd alone restarts, so there is one policy.

    No ``--rm``: the unit removes it, after it has read the container's own log.
    The container has its own /dev/shm: on the host's (--ipc=host) Docker ignores --shm-size, and
    killed ranks leave segments for ever.
    """
    container, model = settings.container, settings.model
    command, *rest = words
    mounts = {model.path: f"{model.path}:ro", **cache_mounts(settings)}
    if settings.vllm.thinking is not None:
        mounts[places.CHAT_TEMPLATE] = f"{places.CHAT_TEMPLATE}:ro"
    return [
        *("/usr/bin/docker", "run", "--pull=never", f"--name={places.VLLM}"),
        f"--cgroup-parent={places.ENGINE_SLICE}",
        *process_options(settings),
        *("--log-driver=json-file", f"--log-opt=max-size={container.log_max_mb}m"),
        f"--log-opt=max-file={container.log_files}",
        *([f"--env-file={places.NCCL_ENV}"] if settings.gpu.count else []),
        f"--env-file={places.ENGINE_ENV}",
        *(f"--volume={outside}:{inside}" for outside, inside in mounts.items()),
        *(f"--entrypoint={command}", reference, *rest),
    ]


def process_options(settings: Settings) -> list[str]:
    """What ranks in a container get of the host: network, shared memory, limits, GPUs.

    GPUs come as CDI devices, which systemd knows: with --gpus a daemon-reload takes them away
    (NVIDIA/nvidia-container-toolkit#48).
    """
    image = settings.image
    limits = {"nofile": settings.system.nofile, **image.ulimits}
    return [
        *("--network=host", f"--shm-size={int(image.shm_gb * 2**30)}"),
        *(f"--ulimit={name}={limit}" for name, limit in limits.items()),
        *(f"--cap-add={name}" for name in image.add_capabilities),
        *(["--privileged"] if image.privileged else []),
        *(["--device=nvidia.com/gpu=all"] if settings.gpu.count else []),
    ]


def apptainer_run(settings: Settings, sif: str, words: list[str]) -> list[str]:
    """``apptainer exec`` of the converted image, with the same words as under Docker.

    --compat leaves out the host's home, /tmp, processes and environment, and takes variables as
    they are, as Docker does.
    """
    binds = {settings.model.path: f"{settings.model.path}:ro", **cache_mounts(settings)}
    if settings.vllm.thinking is not None:
        binds[places.CHAT_TEMPLATE] = f"{places.CHAT_TEMPLATE}:ro"
    return [
        *("/usr/bin/apptainer", "exec", "--compat"),
        *(["--nv"] if settings.gpu.count else []),
        f"--env-file={places.ENGINE_ENV}",
        *(f"--bind={outside}:{inside}" for outside, inside in binds.items()),
        *(sif, *words),
    ]


def cache_mounts(settings: Settings) -> dict[str, str]:
    """Folders of the host by where they lie in the image: what was compiled once is kept."""
    return {f"{places.CACHE}/image{folder}": folder for folder in settings.image.cache_mounts}
