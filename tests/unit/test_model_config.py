"""Checkpoints that would not load, or be served wrongly, are told before they are served."""

import json
from typing import Any

import pytest

from glmstead import ROOT
from glmstead.layer_map import serving_problems

NANO = ROOT / "files" / "models" / "glm-nano"
CONFIG: dict[str, Any] = json.loads((NANO / "config.json").read_text())
FILES = {path.name: path.stat().st_size for path in NANO.iterdir()}

BROKEN = {
    "another architecture": (
        {"architectures": ["LlamaForCausalLM"]},
        "architectures is ['LlamaForCausalLM']; fix: use a checkpoint of GlmMoeDsaForCausalLM",
    ),
    "no router method": (
        {"topk_method": None},
        'topk_method is None; fix: set "topk_method": "noaux_tc" in config.json',
    ),
    "stale expert count": (
        {"num_experts": 256},
        "config.json: num_experts 256 contradicts n_routed_experts 8; "
        "fix: set model_correct_config, or use another checkpoint",
    ),
    "layer map": (
        {"num_hidden_layers": 6},
        "indexer_types has 5 entries for 6 layers",
    ),
}


def test_the_labs_checkpoint_is_fit_to_be_served() -> None:
    assert serving_problems(CONFIG, [], FILES) == []


@pytest.mark.parametrize(("change", "line"), BROKEN.values(), ids=BROKEN)
def test_a_config_that_would_not_load_is_told(change: dict[str, Any], line: str) -> None:
    assert serving_problems({**CONFIG, **change}, [], FILES) == [line]


def test_the_same_expert_count_twice_is_no_contradiction() -> None:
    assert serving_problems({**CONFIG, "num_experts": 8}, [], FILES) == []


QUANTISED = {"quantization_config": {"quant_method": "fp8", "kv_cache_scheme": {"num_bits": 8}}}


def test_a_promise_of_kv_scales_without_scales_is_told() -> None:
    assert serving_problems({**CONFIG, **QUANTISED}, [], FILES, kv_scales=True) == []
    assert serving_problems({**CONFIG, **QUANTISED}, [], FILES) == [
        "config.json: quantization_config.kv_cache_scheme promises KV scales that no shard holds; "
        "fix: set model_correct_config, or use another checkpoint"
    ]


NVFP4 = {"quantization": {"quant_algo": "NVFP4"}}
ANOTHER = "; fix: use another checkpoint"


@pytest.mark.parametrize(
    ("own", "beside", "wanted", "line"),
    [
        (None, NVFP4, "modelopt", ""),
        ({"quant_method": "modelopt", "quant_algo": "NVFP4"}, NVFP4, "modelopt", ""),
        (
            None,
            NVFP4,
            "fp8",
            "quantisation is modelopt, the route is made for fp8; "
            "fix: use the route's checkpoint, or set model_quantization",
        ),
        (
            {"quant_method": "fp8"},
            NVFP4,
            "fp8",
            f"hf_quant_config.json declares NVFP4 beside fp8 in config.json{ANOTHER}",
        ),
        (
            {"quant_method": "modelopt", "quant_algo": "FP8"},
            NVFP4,
            "modelopt",
            f"hf_quant_config.json declares NVFP4, config.json FP8{ANOTHER}",
        ),
    ],
)
def test_modelopts_own_file_is_held_against_the_config_and_the_route(
    own: dict[str, Any] | None, beside: dict[str, Any], wanted: str, line: str
) -> None:
    config = {**CONFIG, "quantization_config": own} if own else CONFIG
    found = serving_problems(config, [], FILES, quantization=wanted, quant=beside)

    assert found == [line] * bool(line)


def test_a_promise_of_kv_scales_in_modelopts_own_file_is_told() -> None:
    quant = {"quantization": {"quant_algo": "NVFP4", "kv_cache_quant_algo": "FP8"}}

    assert serving_problems(CONFIG, [], FILES, quant=quant, kv_scales=True) == []
    assert serving_problems(CONFIG, [], FILES, quant=quant) == [
        "hf_quant_config.json: quantization.kv_cache_quant_algo FP8 promises KV scales that no "
        "shard holds; fix: set model_correct_config, or use another checkpoint"
    ]


def test_a_quantisation_the_route_is_not_made_for_is_told() -> None:
    assert serving_problems(CONFIG, [], FILES, quantization="none") == []
    assert serving_problems(CONFIG, [], FILES, quantization="fp8") == [
        "quantisation is none, the route is made for fp8; "
        "fix: use the route's checkpoint, or set model_quantization"
    ]


def test_a_release_that_does_not_know_the_architecture_is_told() -> None:
    assert serving_problems(CONFIG, [], FILES, "0.20.2") == []
    assert serving_problems(CONFIG, [], FILES, "0.19.1") == [
        "vLLM 0.19.1 does not serve GlmMoeDsaForCausalLM; fix: pin 0.20 or newer"
    ]


def test_no_config_is_the_only_thing_told() -> None:
    assert serving_problems({}, [], {}) == [
        "config.json is missing or no JSON; fix: fetch the checkpoint again"
    ]


def test_missing_and_empty_shards_are_told() -> None:
    index = ["model-1.safetensors", "model-2.safetensors", "model-3.safetensors"]
    files = {**FILES, "model-1.safetensors": 9, "model-2.safetensors": 0}

    assert serving_problems(CONFIG, index, files) == [
        "model-2.safetensors and 1 more missing or empty; fix: fetch the checkpoint again"
    ]


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("tokenizer.json", "no tokenizer; fix: add tokenizer.json"),
        ("chat_template.jinja", "no chat template; fix: add chat_template.jinja"),
    ],
)
def test_what_a_chat_needs_must_be_there(name: str, line: str) -> None:
    files = {other: size for other, size in FILES.items() if other != name}

    assert serving_problems(CONFIG, [], files) == [line]
