"""What vLLM needs from a checkpoint's config and files, checked before it loads for minutes."""

from collections.abc import Iterator, Mapping
from typing import Any

from packaging.version import Version

from glmstead.checkpoint.edits import CONFIG, QUANT, corrections

MODELOPT = "modelopt"
ARCHITECTURE = "GlmMoeDsaForCausalLM"
_SERVED_FROM = "0.20"  # the first vLLM whose layer map of this architecture is known here
# Without these vLLM stops while loading, at e_score_correction_bias.
_ROUTER = {"topk_method": "noaux_tc", "scoring_func": "sigmoid"}
_TOKENIZERS = ("tokenizer.json", "tokenizer.model")
_TEMPLATES = ("chat_template.jinja", "chat_template.json")


def problems(
    config: Mapping[str, Any],
    index: list[str],
    files: Mapping[str, int],
    quantization: str | None = None,
    kv_scales: bool = False,
    quant: Mapping[str, Any] | None = None,
) -> list[str]:
    """Return why a checkpoint would not load, or would be served wrongly, one line each.

    ``index`` names the shards that model.safetensors.index.json refers to, ``files`` the sizes of
    what lies in the folder, ``quantization`` the method the route is made for (None: any),
    ``kv_scales`` whether there are scales of the KV cache among the tensors, ``quant`` is
    hf_quant_config.json where there is one.
    """
    if not config:
        return ["config.json is missing or no JSON; fix: fetch the checkpoint again"]
    return [
        *_config_problems(config),
        *_quantization_problems(config, quant or {}, quantization),
        *_leftovers({CONFIG: config, QUANT: quant or {}}, kv_scales),
        *_file_problems(index, files),
    ]


def release_problems(config: Mapping[str, Any], vllm_version: str) -> list[str]:
    """Return why the pinned vLLM does not know this architecture."""
    if config.get("architectures") == [ARCHITECTURE] and Version(vllm_version) < Version(
        _SERVED_FROM
    ):
        return [
            f"vLLM {vllm_version} does not serve {ARCHITECTURE}; fix: pin {_SERVED_FROM} or newer"
        ]
    return []


def method_of(config: Mapping[str, Any], quant: Mapping[str, Any]) -> str:
    """Return the quantisation method that vLLM will take, none where nothing declares one.

    It reads hf_quant_config.json (``quant``) only where config.json has no quantization_config.
    """
    declared = config.get("quantization_config")
    if declared is None and quant.get("quantization"):
        return MODELOPT
    return str((declared or {}).get("quant_method", "none"))


def _config_problems(config: Mapping[str, Any]) -> Iterator[str]:
    architectures = config.get("architectures")
    if architectures != [ARCHITECTURE]:
        yield f"architectures is {architectures}; fix: use a checkpoint of {ARCHITECTURE}"
    for key, value in _ROUTER.items():
        if config.get(key) != value:
            yield f'{key} is {config.get(key)}; fix: set "{key}": "{value}" in config.json'


def _quantization_problems(
    config: Mapping[str, Any], quant: Mapping[str, Any], wanted: str | None
) -> Iterator[str]:
    found = method_of(config, quant)
    own = config.get("quantization_config") or {}
    beside = (quant.get("quantization") or {}).get("quant_algo")
    if beside and found != MODELOPT:
        yield f"{QUANT} declares {beside} beside {found} in {CONFIG}; fix: use another checkpoint"
    elif beside and str(own.get("quant_algo", beside)).upper() != str(beside).upper():
        said = f"{QUANT} declares {beside}, {CONFIG} {own['quant_algo']}"
        yield f"{said}; fix: use another checkpoint"
    if wanted is not None and found != wanted:
        fix = "use the route's checkpoint, or set model_quantization"
        yield f"quantisation is {found}, the route is made for {wanted}; fix: {fix}"


def _leftovers(documents: Mapping[str, Mapping[str, Any]], kv_scales: bool) -> Iterator[str]:
    for name, dropped in corrections(documents, kv_scales).items():
        for key, why in dropped.items():
            fix = "set model_correct_config, or use another checkpoint"
            yield f"{name}: {key} {why}; fix: {fix}"


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
