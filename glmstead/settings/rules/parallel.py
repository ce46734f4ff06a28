"""How the model is cut into ranks."""

from collections.abc import Iterator

from glmstead.settings.model import Cluster, Settings
from glmstead.settings.problem import Problem

_TENSOR = "vllm_tensor_parallel_size"
_CONTEXT = "vllm_args.decode-context-parallel-size"


def ranks(settings: Settings, cluster: Cluster) -> Iterator[Problem]:
    """Every GPU holds exactly one rank."""
    tensor, pipeline = settings.vllm.tensor_parallel_size, settings.vllm.pipeline_parallel_size
    per_host = settings.gpus_per_host
    gpus = cluster.hosts * per_host
    if not per_host or tensor * pipeline == gpus:
        return
    wrong = (
        f"tensor {tensor} x pipeline {pipeline} = {tensor * pipeline} ranks, "
        f"but {cluster.hosts} hosts x {per_host} GPUs = {gpus}"
    )
    whole = gpus % pipeline == 0
    fix = f"set {_TENSOR} to {gpus // pipeline}" if whole else f"make the ranks {gpus}"
    yield Problem(_TENSOR, tensor, wrong, fix)


def heads(settings: Settings, cluster: Cluster) -> Iterator[Problem]:
    """A rank holds whole attention heads."""
    count, tensor = settings.model.attention_heads, settings.vllm.tensor_parallel_size
    if count and count % tensor:
        sizes = ", ".join(str(size) for size in range(1, count + 1) if count % size == 0)
        wrong = f"{count} attention heads do not divide by {tensor}"
        yield Problem(_TENSOR, tensor, wrong, f"use one of {sizes}")


def context_parallel(settings: Settings, cluster: Cluster) -> Iterator[Problem]:
    """Decode context parallelism reuses the tensor ranks, and needs a backend that returns LSE."""
    size = settings.vllm.args.get("decode-context-parallel-size", 1)
    tensor = settings.vllm.tensor_parallel_size
    if not isinstance(size, int) or size < 1:
        yield Problem(_CONTEXT, size, "not a number of ranks", f"use a divisor of {_TENSOR}")
        return
    if size == 1:
        return
    if tensor % size:
        wrong = f"does not divide {_TENSOR} {tensor}"
        yield Problem(_CONTEXT, size, wrong, "use a divisor of it")
    if settings.vllm.attention_backend == "FLASHINFER_MLA_SPARSE_SM120":
        wrong = "FLASHINFER_MLA_SPARSE_SM120 returns no log-sum-exp to join the parts with"
        yield Problem(_CONTEXT, size, wrong, "use 1, or the backend TRITON_MLA")


def speculation(settings: Settings, cluster: Cluster) -> Iterator[Problem]:
    """Speculative decoding rules out pipeline stages and min_p."""
    config = settings.vllm.speculative_config
    if config is None:
        return
    if settings.vllm.pipeline_parallel_size > 1:
        fix = "set vllm_pipeline_parallel_size to 1"
        wrong = "speculative decoding needs a single pipeline stage"
        yield Problem("vllm_speculative_config", config, wrong, fix)
    sampling = settings.vllm.args.get("override-generation-config")
    if isinstance(sampling, dict) and "min_p" in sampling:
        key = "vllm_args.override-generation-config"
        wrong = "min_p is refused with speculative decoding"
        yield Problem(key, sampling, wrong, "remove min_p, or vllm_speculative_config")
