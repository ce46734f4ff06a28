"""What vLLM needs from a checkpoint's config and files, checked before it loads for minutes."""

from collections.abc import Iterator, Mapping
from typing import Any

ARCHITECTURE = "GlmMoeDsaForCausalLM"
# Without these vLLM stops while loading, at e_score_correction_bias.
_ROUTER = {"topk_method": "noaux_tc", "scoring_func": "sigmoid"}
_TOKENIZERS = ("tokenizer.json", "tokenizer.model")
_TEMPLATES = ("chat_template.jinja", "chat_template.json")


def problems(config: Mapping[str, Any], index: list[str], files: Mapping[str, int]) -> list[str]:
    """Return why a checkpoint would not load, or would be served wrongly, one line each.

    ``index`` names the shards that model.safetensors.index.json refers to, ``files`` the sizes of
    what lies in the folder.
    """
    if not config:
        return ["config.json is missing or no JSON; fix: fetch the checkpoint again"]
    return [*_config_problems(config), *_file_problems(index, files)]


def _config_problems(config: Mapping[str, Any]) -> Iterator[str]:
    architectures = config.get("architectures")
    if architectures != [ARCHITECTURE]:
        yield f"architectures is {architectures}; fix: use a checkpoint of {ARCHITECTURE}"
    for key, value in _ROUTER.items():
        if config.get(key) != value:
            yield f'{key} is {config.get(key)}; fix: set "{key}": "{value}" in config.json'
    stale, experts = config.get("num_experts"), config.get("n_routed_experts")
    if stale is not None and stale != experts:
        # transformers lets num_experts overwrite n_routed_experts, and the load runs out of memory.
        yield (
            f"num_experts {stale} contradicts n_routed_experts {experts}; "
            "fix: delete num_experts from config.json"
        )


def _file_problems(index: list[str], files: Mapping[str, int]) -> Iterator[str]:
    wanted = index or ["model.safetensors"]
    missing = [name for name in wanted if not files.get(name)]
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        yield f"{missing[0]}{more} missing or empty; fix: fetch the checkpoint again"
    partial = [name for name in files if name.endswith((".incomplete", ".part"))]
    if partial:
        yield f"{partial[0]} is half a download; fix: fetch the checkpoint again"
    for what, names in (("tokenizer", _TOKENIZERS), ("chat template", _TEMPLATES)):
        if not any(files.get(name) for name in names):
            yield f"no {what}; fix: add {names[0]}"
