"""Bytes of weights on the fullest GPU: what is cut over the ranks, and what each rank repeats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from glmstead.fit.cards import Card
from glmstead.layer_map import layer_map

_BF16 = 2.0
_FP8_BLOCK = 1 + 4 / 128**2  # a float32 scale for each block of 128 x 128
_FOUR_BIT = 0.5 + 1 / 16  # NVFP4: an fp8 scale for 16; INT4: a bf16 scale for 32
_SCALED = 0.1  # a published size differs from the count by less, else it is another layout


@dataclass(frozen=True)
class Part:
    """Parameters of one layer, bytes: ``cut`` over the tensor ranks, ``repeated`` on each."""

    cut: float = 0.0
    repeated: float = 0.0

    def __add__(self, other: Part) -> Part:
        return Part(self.cut + other.cut, self.repeated + other.repeated)

    def __mul__(self, factor: float) -> Part:
        return Part(self.cut * factor, self.repeated * factor)

    @property
    def total(self) -> float:
        """Bytes on disk."""
        return self.cut + self.repeated

    def a_rank(self, tensor: int) -> float:
        """Bytes on each of ``tensor`` ranks."""
        return self.cut / tensor + self.repeated


def bytes_a_gpu(
    card: Card,
    tensor: int,
    pipeline: int,
    *,
    draft: bool,
    dense: bool,
    all_full: bool = False,
    experts_whole: bool = False,
) -> float:
    """Bytes on the fullest GPU; ``draft``: with the MTP layer, ``dense``: without indexers.

    ``all_full``: every layer builds an indexer, the checkpoint's map notwithstanding.
    ``experts_whole``: ranks hold whole experts, and the fullest one more where they do not divide.
    """
    config = card.config
    scale = _scale(card)
    full = _full(config, all_full)
    shares = tensor if experts_whole else 1
    layers = [_layer(card, n, full[n] and not dense, shares) for n in range(len(full))]
    embedding = Part(cut=config["vocab_size"] * config["hidden_size"] * _BF16)
    stages = []
    for stage in range(pipeline):
        first, last = _share(len(layers), pipeline, stage)
        own = sum(layers[first:last], Part())
        own += embedding if stage == 0 else Part()
        if stage == pipeline - 1:
            own += embedding + (_draft(card, not dense, shares) if draft else Part())
        stages.append((own * scale).a_rank(tensor))
    return max(stages)


def counted(card: Card) -> float:
    """Bytes on disk by count of parameters, the MTP layer included."""
    config = card.config
    full = _full(config, False)
    layers = sum((_layer(card, number, full[number]) for number in range(len(full))), Part())
    draft = _draft(card, True) * config.get("num_nextn_predict_layers", 0)
    ends = 2 * config["vocab_size"] * config["hidden_size"] * _BF16
    return float(layers.total + draft.total + ends)


def _scale(card: Card) -> float:
    """What the count is multiplied with to give the published size; 1 where that is no size of it."""
    factor = card.size / counted(card)
    return factor if abs(factor - 1) < _SCALED else 1.0


def _full(config: Mapping[str, Any], all_full: bool) -> list[bool]:
    if "index_topk" not in config:
        return [False] * int(config["num_hidden_layers"])
    return [all_full or letter == "F" for letter in layer_map(config)]


def _share(layers: int, stages: int, stage: int) -> tuple[int, int]:
    """First and last layer of a stage; vLLM gives what is left over to the later stages but one."""
    size, rest = divmod(layers, stages)
    sizes = [size + (1 if 0 < stages - 1 - n <= rest else 0) for n in range(stages)]
    return sum(sizes[:stage]), sum(sizes[: stage + 1])


def _widths(card: Card) -> tuple[float, float]:
    """Bytes a parameter of (routed experts, other linear layers)."""
    method = (card.config.get("quantization_config") or {}).get("quant_method")
    if method == "fp8":
        return _FP8_BLOCK, _FP8_BLOCK
    return (_FOUR_BIT if method else _BF16), _BF16


def _layer(card: Card, number: int, indexer: bool, shares: int = 1) -> Part:
    config = card.config
    part = _attention(card) + (_indexer(card) if indexer else Part())
    if number >= config["first_k_dense_replace"]:
        return part + _experts(card, _widths(card)[0], shares)
    width = 3 * config["hidden_size"] * config["intermediate_size"]
    return part + Part(cut=width * _widths(card)[1])


def _draft(card: Card, indexer: bool, shares: int = 1) -> Part:
    hidden = card.config["hidden_size"]
    experts = _BF16 if card.draft_experts_bf16 else _widths(card)[0]
    part = _attention(card) + _experts(card, experts, shares) + Part(repeated=2 * hidden**2 * _BF16)
    return part + (_indexer(card) if indexer else Part())


def _attention(card: Card) -> Part:
    c, width = card.config, _widths(card)[1]
    hidden, heads = c["hidden_size"], c["num_attention_heads"]
    nope, rope, value = c["qk_nope_head_dim"], c["qk_rope_head_dim"], c["v_head_dim"]
    down = hidden * (c["q_lora_rank"] + c["kv_lora_rank"] + rope)
    up = c["q_lora_rank"] * heads * (nope + rope) + c["kv_lora_rank"] * heads * (nope + value)
    return Part(cut=(up + heads * value * hidden) * width, repeated=down * width)


def _indexer(card: Card) -> Part:
    c = card.config
    heads, size = c["index_n_heads"], c["index_head_dim"]
    keys = c["hidden_size"] * (size + heads)
    return Part(repeated=(c["q_lora_rank"] * heads * size + keys) * _widths(card)[1])


def _experts(card: Card, width: float, shares: int) -> Part:
    c = card.config
    expert, count = 3 * c["hidden_size"] * c["moe_intermediate_size"], c["n_routed_experts"]
    shared = expert * c["n_shared_experts"] * _widths(card)[1]
    gate = c["hidden_size"] * count * _BF16
    fullest = -(-count // shares) * shares
    return Part(cut=expert * fullest * width + shared, repeated=gate)
