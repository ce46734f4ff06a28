"""The layer map of whole, pruned and broken configs, and what each vLLM would make of them."""

from typing import Any

import pytest

from glmstead.layer_map import check, contradictions, derived_by_vllm, layer_map, override_needed

# The user's document spells it out for the whole model.
GLM_5_2 = "FFFSSSFSSSFSSSFSSSFSSSFSSSFSSSFSSSFSSSFSSSFSSSFSSSFSSSFSSSFSSSFSSSFSSSFSSSFSSS"


def config(pattern: str = GLM_5_2, **changes: Any) -> dict[str, Any]:
    """A config whose indexer_types say `pattern`, with GLM-5.2's other keys."""
    return {
        "num_hidden_layers": len(pattern),
        "index_topk": 2048,
        "index_topk_freq": 4,
        "index_skip_topk_offset": 3,
        "index_topk_pattern": None,
        "indexer_types": [{"F": "full", "S": "shared"}[letter] for letter in pattern],
        **changes,
    }


def test_the_whole_model_has_21_full_and_57_shared_layers() -> None:
    assert layer_map(config()) == GLM_5_2
    assert (GLM_5_2.count("F"), GLM_5_2.count("S")) == (21, 57)
    assert check(config()) == []


@pytest.mark.parametrize(
    ("release", "starts"),
    [("0.20.2", "FFFFFFF"), ("0.22.1", "FFFFFFF"), ("0.23.0", "FFFSSSF"), ("0.28.0", "FFFSSSF")],
)
def test_vllm_derives_the_right_map_from_0_23_on(release: str, starts: str) -> None:
    derived = derived_by_vllm(config(), release)

    assert derived[:7] == starts
    assert (derived == GLM_5_2) == (starts == "FFFSSSF")


def test_vllm_0_22_knows_no_offset() -> None:
    assert derived_by_vllm(config(use_index_cache=True), "0.22.1")[:6] == "FFSSSF"


def test_a_pattern_in_the_config_is_taken_as_it_is() -> None:
    assert derived_by_vllm(config("FSFS", index_topk_pattern="FSFS"), "0.28.0") == "FSFS"


def test_no_override_where_vllm_derives_the_same_map() -> None:
    assert override_needed(config(), "0.28.0") is None
    assert override_needed(config("FFFSS"), "0.32.0") is None


def test_an_override_where_vllm_would_derive_another_map() -> None:
    without = config()
    del without["index_topk_freq"], without["index_skip_topk_offset"]

    assert override_needed(config(), "0.22.1") == GLM_5_2
    assert override_needed(without, "0.28.0") == GLM_5_2


def test_a_model_pruned_of_layers_is_overridden_and_told() -> None:
    pruned = config("FFSSSFSSS")

    assert override_needed(pruned, "0.28.0") == "FFSSSFSSS"
    assert contradictions(pruned) == []
    assert check(pruned) == [
        "index_topk_freq gives another map than indexer_types at layers 2, 5, 6: "
        "3 full layers instead of 4"
    ]


def test_a_model_without_sparse_attention_has_no_map_to_check() -> None:
    assert check({"num_hidden_layers": 2}) == []
    assert override_needed({"num_hidden_layers": 2}, "0.28.0") is None


@pytest.mark.parametrize(
    ("broken", "line"),
    [
        (config(num_hidden_layers=77), "indexer_types has 78 entries for 77 layers"),
        (
            config("SFF"),
            "indexer_types starts with a shared layer, which has no choice to reuse",
        ),
        (
            config("FS", indexer_types=["full", "shred"]),
            "indexer_types has shred, but knows only full and shared",
        ),
        (config("FS", indexer_types=None), "config.json has no indexer_types"),
        (
            config("FFF", index_topk_pattern="FFS"),
            "index_topk_pattern and indexer_types describe different layer maps",
        ),
    ],
)
def test_a_broken_map_is_told_in_one_line(broken: dict[str, Any], line: str) -> None:
    assert contradictions(broken) == [line]
    assert check(broken) == [line]
