"""A config.json that is given: refused in one line where nothing can be counted from it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from glmstead.layer_map import contradictions
from glmstead.model_config import ARCHITECTURE

_COUNTS = (
    *("hidden_size", "num_hidden_layers", "num_attention_heads", "vocab_size"),
    *("q_lora_rank", "kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"),
    *("intermediate_size", "moe_intermediate_size", "n_routed_experts", "num_experts_per_tok"),
    "max_position_embeddings",
)
_COUNTS_OR_ZERO = ("first_k_dense_replace", "n_shared_experts")
_INDEXER = ("index_topk", "index_n_heads", "index_head_dim")


def read_config(path: Path) -> dict[str, Any]:
    """Return a config to count from; raises ValueError with what, where and the fix."""
    try:
        config = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise ValueError(f"{path}: no JSON: {error}; fix: fetch the checkpoint's own") from error
    wrong = next(_wrong(config), None) if isinstance(config, dict) else "no JSON object"
    if wrong:
        fix = f"give the config.json of a {ARCHITECTURE} checkpoint"
        raise ValueError(f"{path}: {wrong}; fix: {fix}")
    return dict(config)


def _wrong(config: Mapping[str, Any]) -> Iterator[str]:
    if config.get("architectures") != [ARCHITECTURE]:
        yield f"architectures is {config.get('architectures')}"
    for keys, least in ((_COUNTS, 1), (_COUNTS_OR_ZERO, 0), (_INDEXER, 1)):
        for key in keys:
            if not _is_count(config.get(key), least):
                yield f"{key} is {config.get(key)}, not a number from {least} on"
    if not _is_count(config.get("num_nextn_predict_layers", 0), 0):
        yield f"num_nextn_predict_layers is {config['num_nextn_predict_layers']}"
    quantization = config.get("quantization_config") or {}
    if not isinstance(quantization, dict):
        yield f"quantization_config is {quantization}, not an object"
    else:
        block = quantization.get("weight_block_size") or [1]
        if not isinstance(block, list) or not all(_is_count(one, 1) for one in block):
            yield f"weight_block_size is {block}, not a list of numbers"
    if not isinstance(config.get("indexer_types"), list):
        yield f"indexer_types is {config.get('indexer_types')}, not a list"
    yield from contradictions(config)


def _is_count(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least
