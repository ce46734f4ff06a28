"""Which settings of NCCL win, and why."""

from dataclasses import asdict, dataclass
from typing import Any

from glmstead.nccl.candidates import DECLARED

Results = dict[str, dict[str, dict[str, Any]]]
"""Stage (``2 GPUs``, ``all GPUs``, ``all hosts``) -> candidate -> what nccl_trial said."""
_ALIKE = 0.05  # figures closer than this are no reason to prefer one


@dataclass(frozen=True)
class Verdict:
    """The winner; ``env`` is empty where NCCL's own choice is as good as any."""

    name: str | None
    env: dict[str, str]
    reason: str
    stage: str
    declared: str
    results: Results

    @property
    def document(self) -> dict[str, Any]:
        """The receipt."""
        return asdict(self)


def verdict(results: Results) -> Verdict:
    """Pick from what was measured; ``results`` lists the stages from narrow to wide."""
    stage = list(results)[-1]
    fit = [name for name in results[stage] if not _failure(name, results)]
    if not fit:
        return Verdict(None, {}, f"nothing works: {_why_not(results)}", stage, "", results)
    winner = _best([results[stage][name] for name in fit if name != DECLARED] or [])
    winner = winner or results[stage][DECLARED]
    return Verdict(
        name=winner["name"],
        env=winner["env"],
        reason=f"{_figures(winner)} on {stage}{_lost(results)}",
        stage=stage,
        declared=_compared(winner, results, stage),
        results=results,
    )


def _failure(name: str, results: Results) -> str:
    """Where a candidate failed, empty when it never did."""
    for stage, tried in results.items():
        one = tried.get(name)
        if one is None or one["status"] != "ok":
            said = one["error"] if one else "not tried"
            return f"{name} {one['status'] if one else 'left out'} on {stage} ({said})"
    return ""


def _best(fit: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Most bandwidth; among equals the least latency, and among those the plainest."""
    if not fit:
        return None
    most = max(one["busbw_gb_s"] for one in fit)
    wide = [one for one in fit if one["busbw_gb_s"] >= most * (1 - _ALIKE)]
    least = min(one["latency_us"] for one in wide)
    return next(one for one in wide if one["latency_us"] <= least * (1 + _ALIKE))


def _figures(one: dict[str, Any]) -> str:
    return f"{one['busbw_gb_s']:g} GB/s and {one['latency_us']:g} us"


def _lost(results: Results) -> str:
    names = dict.fromkeys(name for tried in results.values() for name in tried)
    lost = [failure for name in names if (failure := _failure(name, results))]
    return f"; {'; '.join(lost)}" if lost else ""


def _why_not(results: Results) -> str:
    return _lost(results).removeprefix("; ")


def _compared(winner: dict[str, Any], results: Results, stage: str) -> str:
    """How what the route declares, which is used, compares with what was measured best."""
    failure = _failure(DECLARED, results)
    declared = results[stage].get(DECLARED)
    if all(DECLARED not in tried for tried in results.values()):
        return ""
    if failure or declared is None:
        return f"nccl_env does not work: {failure}; remove it"
    share = declared["busbw_gb_s"] / winner["busbw_gb_s"] - 1
    if abs(share) <= _ALIKE:
        return f"nccl_env is as good: {_figures(declared)}"
    word = "faster" if share > 0 else "slower"
    return f"nccl_env is {abs(share):.0%} {word}: {_figures(declared)}"
