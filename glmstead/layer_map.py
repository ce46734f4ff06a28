"""Which layers of a DSA model run the indexer (F, full) and which reuse its choice (S, shared).

The checkpoint says so in ``indexer_types``; no vLLM release reads that for this architecture. They
derive a map from other keys, so the derived one is compared and overridden only where it differs.
"""

from collections.abc import Mapping
from typing import Any

from packaging.version import Version

from glmstead.model_config import problems, release_problems

Config = Mapping[str, Any]

_LETTERS = {"full": "F", "shared": "S"}
_OFFSET = 2  # vLLM's default where index_skip_topk_offset is absent


def layer_map(config: Config) -> str:
    """Return the checkpoint's own map; raises ValueError where it has none, or a broken one."""
    types = config.get("indexer_types")
    if not types:
        raise ValueError("config.json has no indexer_types")
    strange = sorted({str(one) for one in types} - set(_LETTERS))
    if strange:
        raise ValueError(f"indexer_types has {', '.join(strange)}, but knows only full and shared")
    return "".join(_LETTERS[one] for one in types)


def derived_by_vllm(config: Config, vllm_version: str) -> str:
    """Return the map that this release computes from the same config.

    Up to 0.20 every layer runs an indexer; 0.21 and 0.22 look at the other keys only with
    ``use_index_cache``, and know no offset.
    """
    release = Version(vllm_version)
    layers = int(config["num_hidden_layers"])
    by_minor = release >= Version("0.23")
    if not by_minor and not (release >= Version("0.21") and config.get("use_index_cache")):
        return "F" * layers
    pattern = config.get("index_topk_pattern")
    if pattern is not None:
        return str(pattern)
    offset = int(config.get("index_skip_topk_offset") or _OFFSET) if by_minor else _OFFSET
    return _by_frequency(layers, int(config.get("index_topk_freq") or 1), offset)


def override_needed(config: Config, vllm_version: str) -> str | None:
    """Return the pattern to pass as ``index_topk_pattern``, None where vLLM derives the same map.

    Also None without ``indexer_types``: there is nothing better to say. Raises ValueError for a
    broken map. Releases before 0.23 also want ``use_index_cache``; before 0.21 nothing helps.
    """
    if not config.get("indexer_types"):
        return None
    wanted = layer_map(config)
    return None if derived_by_vllm(config, vllm_version) == wanted else wanted


def contradictions(config: Config) -> list[str]:
    """Return what makes the map unusable, one line each."""
    if "index_topk" not in config:
        return []
    try:
        own = layer_map(config)
    except ValueError as error:
        return [str(error)]
    layers = config.get("num_hidden_layers")
    lines = []
    if len(own) != layers:
        lines.append(f"indexer_types has {len(own)} entries for {layers} layers")
    if not own.startswith("F"):
        lines.append("indexer_types starts with a shared layer, which has no choice to reuse")
    pattern = config.get("index_topk_pattern")
    if pattern is not None and pattern != own:
        lines.append("index_topk_pattern and indexer_types describe different layer maps")
    return lines


def check(config: Config) -> list[str]:
    """Return contradictions, and where ``index_topk_freq`` and the offset give another map.

    The latter is curable: ``override_needed`` then has the pattern to pass.
    """
    lines = contradictions(config)
    if lines or not config.get("index_topk_freq"):
        return lines
    own = layer_map(config)
    offset = int(config.get("index_skip_topk_offset") or _OFFSET)
    derived = _by_frequency(len(own), int(config["index_topk_freq"]), offset)
    differ = [
        str(layer)
        for layer, pair in enumerate(zip(own, derived, strict=True))
        if len(set(pair)) > 1
    ]
    if differ:
        shown = ", ".join(differ[:5]) + (", ..." if len(differ) > 5 else "")
        counts = f"{own.count('F')} full layers instead of {derived.count('F')}"
        lines.append(
            f"index_topk_freq gives another map than indexer_types at layers {shown}: {counts}"
        )
    return lines


def serving_problems(
    config: Config,
    index: list[str],
    files: Mapping[str, int],
    vllm_version: str | None = None,
    **more: Any,
) -> list[str]:
    """Return every reason not to serve a checkpoint: its config, files, release and layer map.

    ``more`` is what ``model_config.problems`` takes besides.
    """
    lines = problems(config, index, files, **more)
    if not config:
        return lines
    known = release_problems(config, vllm_version) if vllm_version else []
    return lines + known + contradictions(config)


def _by_frequency(layers: int, frequency: int, offset: int) -> str:
    full = (max(layer - offset + 1, 0) % frequency == 0 for layer in range(layers))
    return "".join("F" if one else "S" for one in full)
