"""What the known checkpoints are, for a verdict before a byte of them is fetched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

GB = 1e9

# zai-org/GLM-5.2's config.json, as far as memory and kernels depend on it.
_WHOLE: dict[str, Any] = {
    "architectures": ["GlmMoeDsaForCausalLM"],
    "hidden_size": 6144,
    "num_hidden_layers": 78,
    "num_attention_heads": 64,
    "q_lora_rank": 2048,
    "kv_lora_rank": 512,
    "qk_nope_head_dim": 192,
    "qk_rope_head_dim": 64,
    "v_head_dim": 256,
    "intermediate_size": 12288,
    "moe_intermediate_size": 2048,
    "n_routed_experts": 256,
    "num_experts_per_tok": 8,
    "n_shared_experts": 1,
    "first_k_dense_replace": 3,
    "vocab_size": 154880,
    "index_topk": 2048,
    "index_n_heads": 32,
    "index_head_dim": 128,
    "index_topk_freq": 4,
    "index_skip_topk_offset": 3,
    "num_nextn_predict_layers": 1,
    "max_position_embeddings": 1048576,
    "indexer_types": ["full" if layer < 3 or layer % 4 == 2 else "shared" for layer in range(78)],
}


@dataclass(frozen=True)
class Card:
    """A checkpoint: its config, its size in bytes, how its draft layer's experts are stored."""

    name: str
    config: Mapping[str, Any]
    size: float
    draft_experts_bf16: bool = False


def _card(
    name: str, size_gb: float, method: str, experts: int = 256, bf16: bool = False
) -> tuple[str, Card]:
    quantization: dict[str, Any] = {"quant_method": method}
    if method == "fp8":
        quantization["weight_block_size"] = [128, 128]
    config = {**_WHOLE, "n_routed_experts": experts, "quantization_config": quantization}
    return name, Card(name, config, size_gb * GB, bf16)


CARDS: dict[str, Card] = dict(
    [
        _card("zai-org/GLM-5.2-FP8", 755.7, "fp8"),
        _card("0xSero/GLM-5.2-NVFP4-REAP-469B", 313.0, "modelopt", 156, True),
        _card("0xSero/GLM-5.2-504B", 308.829, "modelopt", 168),
        _card("0xSero/GLM-5.2-504B-Nvidia", 317.9, "modelopt", 168, True),
        _card("lukealonso/GLM-5.2-NVFP4", 467.1, "modelopt", 256, True),
        _card("nvidia/GLM-5.2-NVFP4", 465.0, "modelopt", 256, True),
        _card("cyankiwi/GLM-5.2-AWQ-INT4", 440.0, "compressed-tensors"),
    ]
)
"""By repository; sizes on disk as published."""
