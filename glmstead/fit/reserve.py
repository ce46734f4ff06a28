"""What a start takes besides weights and cache, GiB: activations counted, the rest from public logs.

The rest (NCCL's buffers, CUDA graphs, workspaces, allocator slack) is what the cited log leaves when
weights, activations and its KV cache are taken off; another image or driver shifts it by some tenths.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

GIB = float(1 << 30)

B12X = 4.32  # 0xSero/glm-5.2-sm120: 4 GPUs, 0.95, 8192 batched, 710,593 tokens under DCP 4
B12X_ALL_FULL = 8.57  # hydralisk, every layer an indexer: 0.95, 32768 batched, 1.26 GiB of cache
STOCK = 4.48  # hermia-ai/glm-5.2-sm120-stock-vllm: 4 GPUs, 0.92, 8192 batched, 164,160 tokens
STOCK_DCP = 5.76  # the same with DCP 4: 554,759 tokens
DEFAULT_BATCHED = 8192  # vLLM's own for a server on a GPU of 70 GiB and more

BOARDS = {"RTX PRO 6000": 94.97, "A100": 79.15}
"""GiB that CUDA gives of a board, by part of its name."""


def activations(config: Mapping[str, Any], tensor: int, batched: int) -> float:
    """Return GiB of the largest step: every batched token passes the experts at once.

    A token takes the outputs of its experts, its heads' latent queries and outputs, the indexer's
    choice and four hidden states. hydralisk's two runs (32768 and 4096 batched) differ by this.
    """
    hidden, chosen = config["hidden_size"], config["num_experts_per_tok"]
    heads = config["num_attention_heads"] / tensor
    latent = 2 * config["kv_lora_rank"] + config["qk_rope_head_dim"]
    a_token = (
        2 * chosen * hidden
        + 2 * chosen * 2 * config["moe_intermediate_size"] / tensor
        + 2 * heads * latent
        + 4 * config.get("index_topk", 0)
        + 4 * 2 * hidden
    )
    return float(batched * a_token / GIB)


def fixed(b12x: bool, context_parallel: int, all_full: bool = False) -> float:
    """Return GiB that do not depend on the model or the batch."""
    if b12x:
        return B12X_ALL_FULL if all_full else B12X
    return STOCK_DCP if context_parallel > 1 else STOCK
