"""The verdict on one cluster: every figure, whether it can start, and the knob that would help."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from glmstead.fit.cache import bytes_a_token
from glmstead.fit.kernels import SM120_SPARSE, undispatchable
from glmstead.fit.plan_values import Plan, warnings
from glmstead.fit.reserve import GIB, activations, fixed
from glmstead.fit.weights import bytes_a_gpu


@dataclass(frozen=True)
class Fit:
    """The figures of a plan. ``reason`` says why not and what would help; empty when it fits."""

    fits: bool
    reason: str
    weights_gib_per_gpu: float
    activations_gib_per_gpu: float
    fixed_gib_per_gpu: float
    kv_gib_per_gpu: float
    kv_bytes_per_token: int
    kv_pool_tokens: int
    max_context: int
    concurrency: float
    heads_per_gpu: float
    warnings: list[str] = field(default_factory=list)


def fit(plan: Plan) -> Fit:
    """Return the verdict."""
    found = _figures(plan)
    reason = next(filter(None, (_shape(plan), _memory(plan, found), _context(plan, found))), "")
    return replace(found, fits=not reason, reason=reason, warnings=warnings(plan))


def _figures(plan: Plan) -> Fit:
    config = plan.card.config
    token = bytes_a_token(
        config,
        dense=plan.dense,
        fp8=plan.fp8,
        draft=plan.draft,
        pipeline=plan.pipeline,
        all_full=plan.all_full,
    )
    weights = bytes_a_gpu(
        plan.card,
        plan.tensor,
        plan.pipeline,
        draft=plan.draft,
        dense=plan.dense,
        all_full=plan.all_full,
        experts_whole=plan.experts_whole,
    )
    step = activations(config, plan.tensor, plan.batched)
    besides = fixed(plan.b12x, plan.context_parallel, plan.all_full)
    pool = plan.utilization * plan.gpu_gib - weights / GIB - step - besides
    if plan.cpu_cache is not None:
        pool, step, besides = plan.cpu_cache, 0.0, 0.0
    tokens = max(0, int(pool * GIB * plan.context_parallel / token))
    return Fit(
        fits=True,
        reason="",
        weights_gib_per_gpu=round(weights / GIB, 3),
        activations_gib_per_gpu=round(step, 2),
        fixed_gib_per_gpu=round(besides, 2),
        kv_gib_per_gpu=round(pool, 3),
        kv_bytes_per_token=token,
        kv_pool_tokens=tokens,
        max_context=min(tokens, int(config["max_position_embeddings"])),
        concurrency=round(tokens / plan.context, 2),
        heads_per_gpu=config["num_attention_heads"] / plan.tensor,
    )


def _shape(plan: Plan) -> str:
    """Why the model cannot be cut so, or no kernel takes the pieces.

    With expert parallelism too: the shared expert and the dense layers are cut over the ranks.
    """
    config = plan.card.config
    if plan.pipeline > int(config["num_hidden_layers"]):
        return f"{config['num_hidden_layers']} layers make no {plan.pipeline} stages: use fewer"
    heads, tensor = int(config["num_attention_heads"]), plan.tensor
    if heads % tensor:
        return f"{heads} heads do not divide by {tensor} tensor ranks: use a divisor of {heads}"
    if tensor % plan.context_parallel:
        return f"DCP {plan.context_parallel} does not divide {tensor} tensor ranks: use a divisor"
    block = ((config.get("quantization_config") or {}).get("weight_block_size") or [1])[0]
    for key in ("moe_intermediate_size", "intermediate_size"):
        if int(config[key]) % (tensor * block):
            part = f"{key} {config[key]} over {tensor} ranks"
            return f"{part} is no multiple of the quantisation block {block}: use fewer ranks"
    if plan.dense:
        return ""
    top_k = int(config["index_topk"])
    why = undispatchable(plan.backend, plan.flashinfer, heads // tensor, top_k, plan.padded)
    cure = "use 8 tensor ranks, HEAD_PAD_TP16, DENSE_FALLBACK or FlashInfer 0.7.2.post1"
    return f"{why}: {cure}" if why else ""


def _memory(plan: Plan, found: Fit) -> str:
    if found.kv_gib_per_gpu > 0:
        return ""
    budget = plan.utilization * plan.gpu_gib
    besides = found.activations_gib_per_gpu + found.fixed_gib_per_gpu
    taken = f"weights {found.weights_gib_per_gpu:.1f} + {besides:.1f} GiB besides"
    return f"{taken} exceed {budget:.1f} GiB of a GPU: {_more_ranks(plan)}"


def _more_ranks(plan: Plan) -> str:
    heads = int(plan.card.config["num_attention_heads"])
    for tensor in (n for n in range(plan.tensor + 1, heads + 1) if heads % n == 0):
        larger = replace(plan, tensor=tensor, dense=True)
        if not _shape(larger) and _figures(larger).kv_pool_tokens >= plan.context:
            return f"use {tensor * plan.pipeline} GPUs or a smaller checkpoint"
    return "use a smaller checkpoint"


def _context(plan: Plan, found: Fit) -> str:
    """Why the declared context is not had, and the first knob that would give it."""
    limit = int(plan.card.config["max_position_embeddings"])
    if plan.context > limit:
        return f"the model knows {limit} positions: set vllm_max_model_len to {limit} or less"
    if found.kv_pool_tokens >= plan.context:
        return ""
    needed = plan.context * found.kv_bytes_per_token / plan.context_parallel / GIB
    have = (
        f"{needed:.2f} GiB of KV cache for {plan.context} tokens, {found.kv_gib_per_gpu:.2f} left"
    )
    return f"{have}: {_knob(plan, found)}"


def _knob(plan: Plan, found: Fit) -> str:
    shorter = f"set vllm_max_model_len to {found.max_context // 1024 * 1024}"
    for changed, text in _knobs(plan):
        if _figures(changed).kv_pool_tokens >= plan.context:
            return f"{text}, or {shorter}"
    return shorter


def _knobs(plan: Plan) -> Iterator[tuple[Plan, str]]:
    """Plans with more room, the change that costs least first."""
    if plan.batched > 4096:
        yield replace(plan, batched=4096), "set vllm_max_num_batched_tokens to 4096"
    if plan.backend != SM120_SPARSE:  # it returns no log-sum-exp to join the parts with
        for size in range(plan.context_parallel + 1, plan.tensor + 1):
            if plan.tensor % size == 0:
                text = f"set decode-context-parallel-size to {size}"
                yield replace(plan, context_parallel=size), text
    if not plan.fp8:
        yield replace(plan, fp8=True), "set vllm_kv_cache_dtype to fp8"
    if plan.draft:
        yield replace(plan, draft=False), "drop speculative decoding"
