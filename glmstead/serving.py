"""What Ray, vLLM and LiteLLM are started with, computed from settings; no I/O."""

import json
from typing import Any

from glmstead import places
from glmstead.settings import Settings

FREE_MIB = 1024  # what a driver itself may hold of a GPU
GPUS_FREE_S = 240  # the field saw memory come back four minutes after its process had ended
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def engine_environment(settings: Settings) -> dict[str, str]:
    """Environment of Ray *and* vLLM on one host: Ray copies no GLOO_, PATH or CUDA_ variable.

    Interfaces and addresses are this host's own: names differ between hosts (NVIDIA/nccl#286), and
    Gloo takes exactly one (aws-samples/aws-do-eks#51).
    """
    cluster, cache = settings.cluster, places.CACHE
    home = cuda_home(settings)
    # FlashInfer looks at CUDA_HOME, others at PATH: flashinfer-ai/flashinfer#1919
    cuda = {"CUDA_HOME": home} if home else {}
    binaries = [f"{settings.engine.root}/bin", *([f"{home}/bin"] if home else []), _PATH]
    interfaces = settings.nccl.socket_interfaces or (cluster.interface,)
    return {
        "HOME": cache,
        "XDG_CACHE_HOME": f"{cache}/xdg",
        "VLLM_CACHE_ROOT": f"{cache}/vllm",
        "TRITON_CACHE_DIR": f"{cache}/triton",
        "TORCHINDUCTOR_CACHE_DIR": f"{cache}/inductor",
        "FLASHINFER_WORKSPACE_BASE": cache,
        "HF_HUB_OFFLINE": "1",
        **cuda,
        "PATH": ":".join(binaries),
        "PYTHONUNBUFFERED": "1",
        "VLLM_NO_USAGE_STATS": "1",
        **(ray_environment(settings) if settings.engine.kind == "ray" else {}),
        "VLLM_HOST_IP": cluster.address,
        "GLOO_SOCKET_IFNAME": cluster.interface,
        "NCCL_SOCKET_IFNAME": ",".join(interfaces),
        **settings.nccl.env,
        **settings.engine.env,
    }


def ray_environment(settings: Settings) -> dict[str, str]:
    """Variables of Ray itself."""
    return {
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN_PATH": places.RAY_TOKEN,
        "RAY_USAGE_STATS_ENABLED": "0",
        # Ranks that lost the head end after this long, so that their unit joins the new one; a
        # restarted head does not know them (ray-project/ray#64349).
        "RAY_gcs_rpc_server_reconnect_timeout_s": "15",
        "RAY_raylet_liveness_self_check_interval_ms": "2000",
        "RAY_worker_niceness": "0",  # its default of 15 starves the ranks on a busy host
        # One idle Python a CPU at the first connection, which nobody uses: vLLM's ranks are actors.
        "RAY_prestart_worker_first_driver": "0",
        "RAY_ROTATION_MAX_BYTES": str(64 * 2**20),
        "RAY_ROTATION_BACKUP_COUNT": "3",
        "AUTOSCALER_METRIC_PORT": str(settings.ray.monitor_metric_port),
        "DASHBOARD_METRIC_PORT": str(settings.ray.dashboard_metric_port),
    }


def cuda_home(settings: Settings) -> str | None:
    """Folder that holds bin/nvcc; None where kernels are not compiled."""
    homes = {"apt": f"/usr/local/cuda-{settings.cuda.version}", "wheel": places.CUDA_HOME}
    return homes.get(settings.cuda.source)


def ray_start(settings: Settings, head_address: str | None) -> list[str]:
    """Words of ``ray start``; ``head_address`` is None on the head itself."""
    ray = settings.ray
    if head_address is None:
        role = ["--head", f"--port={ray.port}", f"--temp-dir={places.RAY_TEMP}"]
        role += ["--include-dashboard=false", "--disable-usage-stats"]
        role += [f"--ray-client-server-port={ray.client_server_port}"]
    else:
        role = [f"--address={head_address}:{ray.port}"]
    ports = (
        "node_manager_port",
        "object_manager_port",
        "runtime_env_agent_port",
        "dashboard_agent_grpc_port",
        "dashboard_agent_listen_port",
        "metrics_export_port",
        "min_worker_port",
        "max_worker_port",
    )
    return [
        f"{settings.engine.root}/bin/ray",
        "start",
        "--block",
        *role,
        f"--node-ip-address={settings.cluster.address}",
        *(f"--{name.replace('_', '-')}={getattr(ray, name)}" for name in ports),
        f"--num-gpus={settings.gpus_per_host}",
        f"--object-store-memory={int(ray.object_store_gb * 1e9)}",
    ]


def vllm_config(settings: Settings, layer_map: str | None = None) -> dict[str, Any]:
    """vLLM's YAML configuration: JSON arguments stay nested values, so no shell quotes them.

    ``layer_map`` is passed as ``index_topk_pattern`` only where vLLM would derive another one.
    """
    vllm, name = settings.vllm, settings.vllm.served_model_name
    executors = {"ray": "ray", "single": "mp"}  # an image chooses by itself
    kind = settings.engine.kind
    executor = {"distributed-executor-backend": executors[kind]} if kind in executors else {}
    optional = {
        "max-num-batched-tokens": vllm.max_num_batched_tokens,
        "gpu-memory-utilization": vllm.gpu_memory_utilization,
        "block-size": vllm.block_size,
        "attention-backend": vllm.attention_backend,
        "load-format": vllm.load_format,
        "reasoning-parser": vllm.reasoning_parser if vllm.parses_thinking else None,
        "chat-template": places.CHAT_TEMPLATE if vllm.thinking is not None else None,
        "tool-call-parser": vllm.tool_call_parser,
        "speculative-config": speculative_config(settings),
        "enable-auto-tool-choice": True if vllm.tool_call_parser else None,
        "disable-custom-all-reduce": True if vllm.disable_custom_all_reduce else None,
        "hf-overrides": {"index_topk_pattern": layer_map} if layer_map else None,
    }
    return {
        "model": settings.model.path,
        "served-model-name": [name, *vllm.served_aliases] if vllm.served_aliases else name,
        "host": "127.0.0.1",
        "port": vllm.port,
        "tensor-parallel-size": vllm.tensor_parallel_size,
        "pipeline-parallel-size": vllm.pipeline_parallel_size,
        **executor,
        "max-model-len": vllm.max_model_len,
        "max-num-seqs": vllm.max_num_seqs,
        "kv-cache-dtype": vllm.kv_cache_dtype,
        **{key: value for key, value in optional.items() if value is not None},
        **vllm.args,
    }


def speculative_config(settings: Settings) -> dict[str, int | str] | None:
    """The draft of MTP is a layer of the checkpoint itself, which forks want to be told."""
    config = settings.vllm.speculative_config
    if config is None or config.get("method") != "mtp":
        return config
    return {"model": settings.model.path, **config}


def gateway_config(settings: Settings) -> dict[str, Any]:
    """LiteLLM's configuration: two model names, the Claude ids aliased to the fast one."""
    gateway, name = settings.gateway, settings.vllm.served_model_name

    def model(public: str, thinking: bool) -> dict[str, Any]:
        params: dict[str, Any] = {
            "model": f"hosted_vllm/{name}",
            "api_base": f"http://127.0.0.1:{settings.vllm.port}/v1",
            "api_key": "none",
            "extra_body": {"chat_template_kwargs": {"enable_thinking": thinking}},
        }
        if gateway.max_tokens is not None:
            params["max_tokens"] = gateway.max_tokens
        return {"model_name": public, "litellm_params": params}

    return {
        "model_list": [
            model(name, thinking=False),
            *([model(f"{name}-thinking", thinking=True)] if settings.vllm.parses_thinking else []),
            *(model(alias, thinking=False) for alias in settings.vllm.served_aliases),
            *(model(alias, thinking=False) for alias in gateway.claude_models),
        ],
        "general_settings": {"master_key": "os.environ/LITELLM_MASTER_KEY"},
        "litellm_settings": {"drop_params": True, "telemetry": False, "num_retries": 0},
        # One engine: after one client's odd request nobody else is to be sent away for 5 s.
        "router_settings": {"disable_cooldowns": True},
    }


def gateway_url(settings: Settings) -> str:
    """The gateway as its own host reaches it."""
    bind = settings.gateway.bind
    host = "127.0.0.1" if bind in ("0.0.0.0", "::", "localhost") else bind
    return f"http://{host}:{settings.gateway.port}"


def front_config(settings: Settings) -> dict[str, Any]:
    """Limits and gate of ``glmstead.gateway.serve``."""
    gateway, gated = settings.gateway, settings.smoke.gate
    limits = {"max_tokens": gateway.max_tokens, "thinking_tokens": gateway.thinking_tokens}
    idle = settings.idle
    marks = {"folder": places.GATEWAY_FOLDER, "asleep": f"/run/glmstead/{places.VLLM}/asleep"}
    sleep = {**marks, "wait_s": idle.wait_s} if idle.after_s else None
    figures = {"figures_port": settings.metrics.gateway_port} if settings.metrics.enabled else {}
    gate = places.GATE_FOLDER if gated or sleep else None
    return {**limits, "gate": gate, "sleep": sleep, **figures}


def gate_config(settings: Settings) -> dict[str, Any]:
    """What ``glmstead.answers.gate`` asks, and where."""
    smoke, vllm = settings.smoke, settings.vllm
    return {
        "enabled": smoke.enabled,
        "url": gateway_url(settings),
        "model": vllm.served_model_name,
        "long_lines": smoke.long_lines,
        "tools": vllm.tool_call_parser is not None,
        "thinking": vllm.parses_thinking,
        "timeout_s": smoke.timeout_s,
    }


def exec_program(program: str, *words: str) -> str:
    """An ExecStart value: one of files/libexec, under the system's own Python."""
    return exec_line(["/usr/bin/python3", f"{places.LIBEXEC}/{program}", *words])


def gpus_free(settings: Settings) -> str | None:
    """An ExecStart value: a start waits until its GPUs are free; None on a host without."""
    words = [str(GPUS_FREE_S), str(FREE_MIB)]
    return exec_program("gpus_free.py", *words) if settings.gpu.count else None


def tidy(settings: Settings) -> str:
    """An ExecStart value: what earlier ranks left is removed."""
    kept = str(settings.ray.sessions_kept)
    return exec_program("tidy.py", settings.system.user, places.RAY_TEMP, kept)


def exec_line(words: list[str]) -> str:
    """An ExecStart value: every word quoted, ``%`` and ``$`` doubled (systemd/systemd#36248)."""
    return " ".join(json.dumps(word.replace("%", "%%").replace("$", "$$")) for word in words)
