"""The arithmetic gives what public logs say: within 3 % where a log is of the same setting."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from glmstead.cli import main
from glmstead.fit.cache import bytes_a_token
from glmstead.fit.cards import CARDS
from glmstead.fit.config import read_config
from glmstead.fit.plan_values import Plan
from glmstead.fit.verdict import fit
from glmstead.fit.weights import bytes_a_gpu, counted
from tests.overlay_samples import stand_in
from tests.unit.conftest import Inventories, Refusals

CHOSEN = {
    "model_revision": "a" * 40,
    "git_commit": "b" * 40,
    "git_pick_commit": "c" * 40,
    "image_base_digest": "sha256:" + "3" * 64,
}

FP8 = CARDS["zai-org/GLM-5.2-FP8"]
SM120 = "FLASHINFER_MLA_SPARSE_SM120"
PRO = 94.97  # GiB that CUDA gives of an RTX PRO 6000

REAP_469B = Plan(
    CARDS["0xSero/GLM-5.2-NVFP4-REAP-469B"],
    *(4, 250_000, PRO),
    context_parallel=4,
    utilization=0.95,
    draft=True,
    backend="B12X_MLA_SPARSE",
)
HERMIA = Plan(
    CARDS["0xSero/GLM-5.2-504B-Nvidia"],
    *(4, 131_072, PRO),
    backend=SM120,
    flashinfer="0.6.14",
)
HYDRALISK = Plan(
    CARDS["0xSero/GLM-5.2-504B"],
    *(4, 250_000, PRO),
    context_parallel=4,
    utilization=0.95,
    batched=4096,
    all_full=True,  # it passed no layer map: 61,464 bytes a token, as its log implies
    backend="B12X_MLA_SPARSE",
)
G4 = Plan(FP8, 16, 262_144, PRO, hosts=2, dense=True, fp8=False, backend="TRITON_MLA")


def near(value: float) -> Any:
    return pytest.approx(value, rel=0.03)


def test_a_token_takes_what_the_logs_imply() -> None:
    config = FP8.config

    assert bytes_a_token(config, dense=False, fp8=True) == 53_940
    assert bytes_a_token(config, dense=False, fp8=True, draft=True) == 54_728
    assert bytes_a_token(config, dense=False, fp8=True, all_full=True) == 61_464
    assert bytes_a_token(config, dense=True, fp8=False) == 89_856
    assert bytes_a_token(config, dense=True, fp8=True) == 44_928
    assert bytes_a_token(config, dense=True, fp8=False, pipeline=2) == 44_928


def test_dense_bf16_at_262144_takes_21_9_gib_on_every_gpu() -> None:
    short = fit(replace(G4, batched=230_000))  # leaves less than the context needs

    assert short.reason.startswith("21.94 GiB of KV cache for 262144 tokens, ")
    assert fit(replace(G4, context=400_000)).kv_pool_tokens == fit(G4).kv_pool_tokens


@pytest.mark.parametrize(
    ("repo", "gigabytes"),
    [
        ("zai-org/GLM-5.2-FP8", 755.7),
        ("0xSero/GLM-5.2-504B", 308.829),
        ("0xSero/GLM-5.2-504B-Nvidia", 317.9),
        ("lukealonso/GLM-5.2-NVFP4", 467.1),
        ("nvidia/GLM-5.2-NVFP4", 465.0),
        ("cyankiwi/GLM-5.2-AWQ-INT4", 440.0),
    ],
)
def test_the_parameters_count_to_the_published_size(repo: str, gigabytes: float) -> None:
    assert counted(CARDS[repo]) / 1e9 == near(gigabytes)


def test_weights_of_a_gpu_are_those_the_logs_show() -> None:
    assert bytes_a_gpu(FP8, 16, 1, draft=False, dense=True) / 1e9 == near(47.2)
    assert bytes_a_gpu(FP8, 8, 1, draft=False, dense=True) / 1e9 == near(94.5)
    assert bytes_a_gpu(HERMIA.card, 4, 1, draft=False, dense=False) / 1e9 == near(79.1)
    assert bytes_a_gpu(REAP_469B.card, 4, 1, draft=True, dense=False) / 1e9 == near(78.6)


@pytest.mark.parametrize(
    ("plan", "tokens", "concurrency"),
    [
        (REAP_469B, 710_593, 2.84),
        (replace(REAP_469B, context_parallel=2), 355_000, 1.42),
        (HERMIA, 164_160, 1.25),
        (replace(HERMIA, context_parallel=4, backend="PATCHED"), 554_759, 4.23),
        (HYDRALISK, 485_158, 1.94),
    ],
    ids=["0xSero DCP4", "0xSero DCP2", "hermia", "hermia DCP4", "hydralisk batched 4096"],
)
def test_the_pool_is_the_one_the_log_shows(plan: Plan, tokens: int, concurrency: float) -> None:
    found = fit(plan)

    assert found.kv_pool_tokens == near(tokens)
    assert found.concurrency == near(concurrency)
    assert found.fits, found.reason


def test_without_dcp_250k_is_refused_at_the_length_the_log_gives() -> None:
    found = fit(replace(REAP_469B, context_parallel=1))

    assert found.max_context == near(177_728)
    assert found.reason == (
        "12.74 GiB of KV cache for 250000 tokens, 9.06 left: "
        "set decode-context-parallel-size to 2, or set vllm_max_model_len to 177152"
    )


def test_too_many_batched_tokens_are_refused_as_in_the_log() -> None:
    found = fit(replace(HYDRALISK, batched=32_768))

    assert found.max_context == near(87_808)
    assert found.reason.startswith(
        "3.58 GiB of KV cache for 250000 tokens, 1.26 left: set vllm_max_num_batched_tokens to 4096"
    )


def test_the_g4_route_fits_and_tells_of_its_network() -> None:
    found = fit(G4)

    assert found.fits
    assert (found.heads_per_gpu, found.kv_bytes_per_token) == (4, 89_856)
    assert found.concurrency > 1.5
    assert [line[:26] for line in found.warnings] == ["tensor ranks on 2 hosts: 1"]


def test_fp8_on_one_g4_host_is_refused() -> None:
    found = fit(replace(G4, tensor=8, hosts=1))

    assert not found.fits
    assert found.reason == (
        "weights 88.0 + 5.9 GiB besides exceed 87.4 GiB of a GPU: "
        "use 16 GPUs or a smaller checkpoint"
    )


def test_four_heads_have_no_sparse_kernel_and_need_none_when_dense() -> None:
    sparse = replace(G4, dense=False, fp8=True, backend=SM120, flashinfer="0.6.16.post3")

    assert fit(sparse).reason == (
        "FlashInfer 0.6.16.post3 has no sparse decode kernel for 4 heads and top-k 2048: "
        "use 8 tensor ranks, HEAD_PAD_TP16, DENSE_FALLBACK or FlashInfer 0.7.2.post1"
    )
    assert fit(replace(sparse, padded=True)).fits
    assert fit(replace(sparse, flashinfer="0.7.2.post1")).fits
    assert fit(replace(sparse, dense=True, fp8=False, backend="TRITON_MLA")).fits


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"tensor": 12}, "64 heads do not divide by 12 tensor ranks: use a divisor of 64"),
        ({"tensor": 32}, "moe_intermediate_size 2048 over 32 ranks is no multiple of the"),
        ({"pipeline": 100}, "78 layers make no 100 stages: use fewer"),
        ({"context_parallel": 3}, "DCP 3 does not divide 16 tensor ranks: use a divisor"),
        ({"context": 2_000_000}, "the model knows 1048576 positions: set vllm_max_model_len to"),
    ],
)
def test_a_cut_that_cannot_be_is_refused(change: dict[str, int], reason: str) -> None:
    assert fit(replace(G4, **change)).reason.startswith(reason)  # type: ignore[arg-type]


def test_two_stages_need_no_tensor_traffic_between_hosts_but_decode_in_turn() -> None:
    found = fit(replace(G4, tensor=8, pipeline=2))

    assert found.fits, found.reason
    assert [line[:21] for line in found.warnings] == ["2 pipeline stages: a "]


def test_the_command_tells_a_person_and_a_machine(
    inventory_file: Inventories, tmp_path: Path
) -> None:
    inventory = str(inventory_file(route="g4"))
    told = CliRunner().invoke(main, ["fit", inventory])
    document = json.loads(CliRunner().invoke(main, ["fit", inventory, "--json"]).output)["g4"]

    assert told.exit_code == 0
    assert told.output.splitlines()[-1] == "fits"
    assert document["fits"] is True
    assert document["max_context"] == document["kv_pool_tokens"]
    named = "fits reason weights_gib_per_gpu kv_bytes_per_token kv_pool_tokens max_context"
    assert set(f"{named} concurrency heads_per_gpu".split()) <= set(document)


def test_a_deploy_that_cannot_start_is_refused_before_a_host_is_asked(
    inventory_file: Inventories, refusals: Refusals
) -> None:
    change = {"vllm_max_model_len": 1_000_000}
    inventory = str(inventory_file(route="g4", data=change))
    told = CliRunner().invoke(main, ["fit", inventory])
    run = CliRunner().invoke(main, ["deploy", inventory])

    assert refusals(route="g4", data=change) == []
    assert told.exit_code == run.exit_code == 1
    assert "does not fit: 83.68 GiB of KV cache for 1000000 tokens" in told.output
    assert run.stderr.startswith("g4: GLM-5.2-FP8 does not fit: 83.68 GiB of KV cache")
    assert run.stderr.strip().count("\n") == 0


def test_the_real_config_gives_the_figures_of_its_card(
    inventory_file: Inventories, tmp_path: Path
) -> None:
    inventory = str(inventory_file(route="g4"))
    config = tmp_path / "config.json"
    config.write_text(json.dumps(FP8.config))
    known = CliRunner().invoke(main, ["fit", inventory, "--json"])
    given = CliRunner().invoke(main, ["fit", inventory, "--json", "--config", str(config)])

    assert json.loads(given.output) == json.loads(known.output)


GLM = FP8.config
FOREIGN = {
    "torn": ('{"a": ', "no JSON: Expecting value"),
    "a list": ([1], "no JSON object; fix: give the config.json of a GlmMoeDsaForCausalLM"),
    "another model": ({"architectures": ["Llama"]}, "architectures is ['Llama']; fix: "),
    "no rank": ({**GLM, "kv_lora_rank": None}, "kv_lora_rank is None, not a number from 1 on"),
    "a word": ({**GLM, "hidden_size": "6144"}, "hidden_size is 6144, not a number from 1 on"),
    "negative": ({**GLM, "num_hidden_layers": -1}, "num_hidden_layers is -1, not a number"),
    "quantised by a word": ({**GLM, "quantization_config": "fp8"}, "quantization_config is fp8"),
    "one block": (
        {**GLM, "quantization_config": {"quant_method": "fp8", "weight_block_size": 128}},
        "weight_block_size is 128, not a list of numbers",
    ),
    "no map": ({**GLM, "indexer_types": None}, "indexer_types is None, not a list"),
    "half a map": (
        {**GLM, "indexer_types": GLM["indexer_types"][:70]},
        "indexer_types has 70 entries for 78 layers",
    ),
    "no positions": ({**GLM, "max_position_embeddings": None}, "max_position_embeddings is None"),
}


@pytest.mark.parametrize(("content", "line"), FOREIGN.values(), ids=FOREIGN)
def test_a_config_that_nothing_can_be_counted_from_is_refused_in_a_line(
    content: Any, line: str, tmp_path: Path
) -> None:
    path = tmp_path / "config.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(ValueError, match=r"; fix: ") as refused:
        read_config(path)

    assert str(refused.value).startswith(f"{path}: {line}")
    assert "\n" not in str(refused.value)


def test_a_foreign_config_is_no_traceback(inventory_file: Inventories, tmp_path: Path) -> None:
    inventory, config = str(inventory_file(route="g4")), tmp_path / "config.json"
    config.write_text('{"architectures": ["Llama"]}')
    run = CliRunner().invoke(main, ["fit", inventory, "--config", str(config)])

    assert run.exit_code == 1
    assert run.stderr.startswith(f"{config}: architectures is ['Llama']; fix: ")
    assert run.stderr.count("\n") == 1


def test_a_stale_expert_count_is_told() -> None:
    stale = replace(FP8, config={**GLM, "num_experts": 160})

    assert fit(replace(G4, card=stale)).warnings[0] == (
        "num_experts 160 contradicts n_routed_experts 256: "
        "a deploy refuses this, or corrects it with model_correct_config"
    )


def test_whole_experts_that_do_not_divide_cost_the_fullest_rank_one_more() -> None:
    pruned = CARDS["0xSero/GLM-5.2-504B"]  # 168 experts: 10.5 a rank of 16
    cut = bytes_a_gpu(pruned, 16, 1, draft=False, dense=True)
    whole = bytes_a_gpu(pruned, 16, 1, draft=False, dense=True, experts_whole=True)
    expert = 3 * GLM["hidden_size"] * GLM["moe_intermediate_size"] * (0.5 + 1 / 16)

    assert whole - cut == near(75 * expert * 0.5)
    assert bytes_a_gpu(FP8, 16, 1, draft=False, dense=True, experts_whole=True) == (
        bytes_a_gpu(FP8, 16, 1, draft=False, dense=True)
    )


def test_an_unknown_checkpoint_needs_its_config(
    inventory_file: Inventories, tmp_path: Path
) -> None:
    inventory = str(inventory_file(route="g4", data={"model_repo": "me/own"}))
    config = tmp_path / "config.json"
    config.write_text(json.dumps(FP8.config))
    run: Callable[..., Any] = lambda *words: CliRunner().invoke(main, ["fit", inventory, *words])  # noqa: E731

    assert run().stderr == "me/own: unknown checkpoint; fix: give its config.json with --config\n"
    assert run("--config", str(config)).exit_code == 0


@pytest.mark.parametrize(("route", "heads"), [("g4", 4), ("g4_throughput", 8), ("g4_newer", 4)])
def test_the_routes_of_two_hosts_fit_them(
    route: str, heads: int, inventory_file: Inventories
) -> None:
    run = CliRunner().invoke(main, ["fit", str(inventory_file(route=route)), "--json"])

    assert run.exit_code == 0, run.output
    assert json.loads(run.output)[route]["heads_per_gpu"] == heads


@pytest.mark.parametrize(
    ("route", "tokens", "heads"),
    [
        ("b12x4", 710_593, 16),
        ("b12x4_fast", 177_728, 16),
        ("b12x8", 7_200_000, 8),
        # no log of these tells its pool: 12.3 GiB of 92,628 bytes a token, dense 89,856
        ("a100", 143_000, 8),
        ("a100_git", 143_000, 8),
        ("a100_dense", 151_600, 8),
        ("a100_docker", 143_000, 8),
    ],
)
def test_the_routes_of_one_host_fit_it(
    route: str, tokens: int, heads: int, inventory_file: Inventories, tmp_path: Path
) -> None:
    overlay = stand_in(tmp_path) if route in ("a100", "a100_docker") else {}
    inventory = str(inventory_file(route=route, hosts=1, data={**CHOSEN, **overlay}))
    run = CliRunner().invoke(main, ["fit", inventory, "--json"])
    document = json.loads(run.output)[route]

    assert run.exit_code == 0, run.output
    assert document["kv_pool_tokens"] == near(tokens)
    assert document["heads_per_gpu"] == heads
