"""Sections about what is served: the checkpoint, Ray, the server and the gateway before it."""

from typing import Literal

from pydantic import Field

from glmstead.settings.sections.base import (
    AbsolutePath,
    Environment,
    Interfaces,
    Listening,
    LockName,
    OwnFolder,
    Port,
    Release,
    Section,
    Strings,
)

Argument = bool | int | float | str | dict[str, object]

MODEL_FILES = ("*.json", "*.safetensors", "*.jinja", "*.model", "tokenizer*")


class ModelSettings(Section):
    """The checkpoint (``model_``)."""

    name: str = Field(pattern=r"^[A-Za-z0-9._-]+$", description="folder name under model_root")
    root: AbsolutePath = Field(default="/var/lib/glmstead/models", description="where models live")
    source: Literal["hub", "controller", "host"] = Field(
        default="hub", description="hub, or a folder or tar of this machine or of the hosts"
    )
    directory: str | None = Field(
        default=None,
        description="folder or tar; source controller: relative to the project, host: absolute",
    )
    repo: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z0-9._-]+/[A-Za-z0-9._-]+$",
        description="source hub: owner/name",
    )
    revision: str | None = Field(default=None, description="source hub: commit, 40 hex digits")
    size_gb: float = Field(gt=0, description="size on disk, GB (10^9 bytes)")
    attention_heads: int | None = Field(
        default=None, ge=1, description="num_attention_heads; must divide by the ranks"
    )
    absent: Strings = Field(
        default=(), description="folders under model_root to remove: models of earlier routes"
    )
    files: Strings = Field(default=MODEL_FILES, description="patterns of the files that are needed")
    endpoint: str | None = Field(
        default=None, pattern=r"^https?://", description="mirror of the hub; None: the hub itself"
    )
    fetch_on: Literal["all", "head"] = Field(
        default="all",
        description="all: each host fetches a part from the hub; head: it alone, peers copy",
    )
    fetch_workers: int = Field(default=8, ge=1, le=64, description="files at a time")
    xet: bool = Field(default=True, description="Xet transfers, plain HTTP after a stall")
    stall_s: int = Field(default=60, ge=1, description="no byte for so long is a stall, seconds")
    share_port: Port = Field(default=6390, description="port that hosts lend the model on")
    quantization: str | None = Field(
        default=None, description="quant_method the route is made for, or none; None: any"
    )
    correct_config: bool = Field(
        default=False, description="drop from config.json what misleads vLLM, keeping the original"
    )

    @property
    def path(self) -> str:
        """Directory of the checkpoint on every host."""
        return f"{self.root}/{self.name}"


class RaySettings(Section):
    """Ray, which spreads the ranks (``ray_``); all ports pinned, so a firewall can be exact."""

    port: Port = Field(default=6380, description="GCS on the head")
    node_manager_port: Port = Field(default=6381, description="raylet")
    object_manager_port: Port = Field(default=6382, description="object store transfer")
    runtime_env_agent_port: Port = Field(default=6383, description="runtime environment agent")
    dashboard_agent_grpc_port: Port = Field(default=6384, description="dashboard agent, gRPC")
    dashboard_agent_listen_port: Port = Field(default=6385, description="dashboard agent, HTTP")
    metrics_export_port: Port = Field(default=6386, description="metrics")
    client_server_port: Port = Field(default=6387, description="Ray client, on the head")
    monitor_metric_port: Port = Field(default=6388, description="autoscaler's metrics, on the head")
    dashboard_metric_port: Port = Field(default=6389, description="head process's metrics")
    min_worker_port: Port = Field(default=20000, description="first port of worker processes")
    max_worker_port: Port = Field(default=20999, description="last port of worker processes")
    gpus_per_host: int | None = Field(
        default=None, ge=1, le=16, description="GPUs each host gives; None: gpu_count"
    )
    object_store_gb: float = Field(
        default=1.0, gt=0, description="object store memory of a host, GB"
    )
    sessions_kept: int = Field(default=5, ge=1, description="session folders with logs, the newest")


class NcclSettings(Section):
    """Collectives between ranks (``nccl_``)."""

    env: Environment = Field(default={}, description="NCCL_* variables of Ray and vLLM")
    socket_interfaces: Interfaces = Field(
        default=(), description="NCCL's interfaces; empty: cluster_interface"
    )
    trial_limit_s: int = Field(
        default=90, ge=10, description="bound on one way to talk that is tried, seconds"
    )
    trial_port: int = Field(
        default=29600, ge=1024, le=65496, description="first port of the trials, 40 of them"
    )


class VllmSettings(Section):
    """The server (``vllm_``)."""

    port: Port = Field(default=8000, description="port on loopback")
    served_model_name: str = Field(default="glm-5.2", description="name of the model in the API")
    served_aliases: Strings = Field(default=(), description="further names of the same model")
    layer_map: Literal["auto", "always"] = Field(
        default="auto",
        description="index_topk_pattern: where vLLM derives another one, or always (forks)",
    )
    thinking: bool | None = Field(
        default=None,
        description="whether answers think unless a request says: template and parser follow; "
        "None: as the checkpoint does",
    )
    tensor_parallel_size: int = Field(ge=1, description="tensor parallel ranks")
    pipeline_parallel_size: int = Field(default=1, ge=1, description="pipeline parallel stages")
    max_model_len: int = Field(ge=512, description="context length, tokens")
    max_num_seqs: int = Field(ge=1, description="concurrent requests")
    max_num_batched_tokens: int | None = Field(default=None, ge=1, description="tokens a step")
    gpu_memory_utilization: float | None = Field(
        default=None, gt=0, lt=1, description="share of GPU memory"
    )
    block_size: int | None = Field(default=None, ge=1, description="tokens a KV block")
    kv_cache_dtype: Literal["auto", "fp8", "bfloat16"] = Field(
        default="auto", description="KV cache type"
    )
    attention_backend: str | None = Field(
        default=None, description="--attention-backend; None: vLLM's choice"
    )
    load_format: str | None = Field(default=None, description="--load-format")
    reasoning_parser: str | None = Field(default=None, description="--reasoning-parser")
    tool_call_parser: str | None = Field(default=None, description="--tool-call-parser")
    speculative_config: dict[str, int | str] | None = Field(
        default=None, description="--speculative-config"
    )
    disable_custom_all_reduce: bool = Field(
        default=False, description="--disable-custom-all-reduce"
    )
    args: dict[str, Argument] = Field(
        default={}, description="further arguments as in vLLM's YAML config; dicts become JSON"
    )
    load_timeout_s: int = Field(
        default=1800, ge=60, description="bound from start to first answer, seconds"
    )
    settled_s: int = Field(
        default=120, ge=0, description="an engine that dies sooner has failed to start, seconds"
    )
    drain_timeout_s: int = Field(
        default=60, ge=0, description="running requests may end within this before a stop, seconds"
    )

    @property
    def parses_thinking(self) -> bool:
        """Whether thoughts are told from answers: without, a client that asks for them gets tags."""
        return self.reasoning_parser is not None and self.thinking is not False


class GatewaySettings(Section):
    """LiteLLM in front of vLLM (``gateway_``)."""

    root: OwnFolder = Field(default="/opt/glmstead/gateway", description="virtual environment")
    lock: LockName = Field(default="gateway", description="NAME of files/locks/NAME.txt")
    version: Release = Field(description="pinned LiteLLM, as in the lock")
    bind: Listening = Field(default="0.0.0.0", description="address the gateway listens on")
    port: Port = Field(default=4000, description="port of the gateway")
    max_tokens: int | None = Field(
        default=None, ge=1, description="cap on the answer's tokens; None: no cap"
    )
    thinking_tokens: int = Field(
        default=1024, ge=0, description="least budget of an answer that thinks, tokens"
    )
    claude_models: Strings = Field(
        default=(), description="Claude ids that clients ask for, aliased"
    )


class SmokeSettings(Section):
    """The questions at the end of every deploy (``smoke_``)."""

    enabled: bool = Field(default=True, description="ask before the deploy counts as done")
    gate: bool = Field(
        default=True, description="people are served only once the answers were right (503 before)"
    )
    long_lines: int = Field(
        default=12, ge=1, description="lines of the log that hides the passphrase"
    )
    timeout_s: int = Field(default=120, ge=5, description="bound on one answer, seconds")
