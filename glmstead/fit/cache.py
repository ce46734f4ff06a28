"""Bytes of KV cache a token on one rank; it is the same on every tensor rank unless DCP cuts it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from glmstead.layer_map import layer_map

_INDEX_SCALE = 4  # a float32 beside each indexer key of one byte a value


def bytes_a_token(
    config: Mapping[str, Any],
    *,
    dense: bool,
    fp8: bool,
    draft: bool = False,
    pipeline: int = 1,
    all_full: bool = False,
) -> int:
    """Return bytes of one token on the fullest stage: latents of each layer, keys of each indexer.

    Sparse fp8 (``fp8_ds_mla``) keeps the rotary part in bf16 and a scale for 128 values. ``draft``
    adds the MTP layer, which has an indexer of its own.
    """
    latent, rope = int(config["kv_lora_rank"]), int(config["qk_rope_head_dim"])
    layers = -(-int(config["num_hidden_layers"]) // pipeline) + draft
    if dense:
        return layers * (latent + rope) * (1 if fp8 else 2)
    a_layer = latent + latent // 128 * 4 + rope * 2 if fp8 else (latent + rope) * 2
    full = layers if all_full else -(-layer_map(config).count("F") // pipeline) + draft
    return layers * a_layer + full * (int(config["index_head_dim"]) + _INDEX_SCALE)
