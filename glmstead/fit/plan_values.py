"""What a verdict depends on, and what a plan costs besides memory."""

from __future__ import annotations

from dataclasses import dataclass

from glmstead.checkpoint.edits import CONFIG, corrections
from glmstead.fit.cards import Card


@dataclass(frozen=True)
class Plan:
    """What memory and kernels depend on; sizes in GiB, ``cpu_cache`` only without GPUs.

    ``experts_whole``: expert parallelism, each rank holds whole experts instead of a slice of each.
    """

    card: Card
    tensor: int
    context: int
    gpu_gib: float
    hosts: int = 1
    pipeline: int = 1
    context_parallel: int = 1
    utilization: float = 0.92
    batched: int = 8192
    dense: bool = False
    fp8: bool = True
    draft: bool = False
    experts_whole: bool = False
    all_full: bool = False
    backend: str | None = None
    flashinfer: str | None = None
    padded: bool = False
    cpu_cache: float | None = None

    @property
    def b12x(self) -> bool:
        """Whether the community image's kernels serve."""
        return (self.backend or "").startswith("B12X")


def warnings(plan: Plan) -> list[str]:
    """Return what to know of a plan that fits: where its speed goes."""
    lines = []
    for dropped in corrections({CONFIG: plan.card.config}, kv_scales=True).values():
        why = "; ".join(f"{key} {reason}" for key, reason in dropped.items())
        lines.append(f"{why}: a deploy refuses this, or corrects it with model_correct_config")
    if plan.pipeline > 1:
        lines.append(
            f"{plan.pipeline} pipeline stages: a single request visits them one after the other, so "
            "it decodes no faster than on one stage's GPUs (39 tokens/s at 2x3, 53 at 4x1)"
        )
    if plan.hosts > plan.pipeline:
        collectives = 2 * int(plan.card.config["num_hidden_layers"])
        lines.append(
            f"tensor ranks on {plan.hosts} hosts: {collectives} all-reduces a token cross the "
            "network; its latency bounds a single request"
        )
    if plan.context_parallel > 1:
        lines.append("DCP trades speed for room: 60 tokens/s at 4, 81 at 1 in the public run")
    return lines
