"""Lines that a start must have logged and must not, per route."""

from pathlib import Path

import pytest

from glmstead import ROOT, inventory
from glmstead.answers.log_contract import judge
from glmstead.settings import Settings
from tests.overlay_samples import stand_in
from tests.unit.conftest import Inventories

STARTED = [
    "(EngineCore pid=1) INFO 11-30 13:05:22 [kv.py:1] GPU KV cache size: 186,400 tokens, Maximum",
    '(APIServer pid=1) INFO 11-30 13:05:26 [p.py:38] "auto" tool choice has been enabled.',
    "INFO:     Application startup complete.",
]
BY_FLAG = "(W pid=1) INFO 11-30 13:05:20 [cuda.py:1] Using AttentionBackendEnum.TRITON_MLA backend."
CHOSEN = "INFO 11-30 13:05:20 [c.py:1] Using TRITON_MLA attention backend out of potential backends"


@pytest.fixture(scope="module")
def g4() -> Settings:
    return next(iter(inventory.settings_of(inventory.load(ROOT / "inventories/g4.py")).values()))


@pytest.fixture(scope="module")
def lab() -> Settings:
    return next(iter(inventory.settings_of(inventory.load(ROOT / "inventories/lab.py")).values()))


def of_one_host(route: str, inventory_file: Inventories, **data: str) -> Settings:
    chosen = {"model_revision": "a" * 40, **data}
    path = inventory_file(hosts=1, route=route, data=chosen)
    return inventory.settings_of(inventory.load(path))["@fake/h1"]


def failed(journal: list[str], settings: Settings) -> dict[str, str]:
    return {one.what: one.evidence for one in judge(journal, settings) if not one.ok}


@pytest.mark.parametrize("backend", [BY_FLAG, CHOSEN])
def test_a_start_as_declared_passes_in_both_wordings(g4: Settings, backend: str) -> None:
    assert failed([*STARTED, backend], g4) == {}


def test_the_cpu_build_has_its_own_words(lab: Settings) -> None:
    cpu = [line.replace("GPU", "CPU") for line in STARTED]
    backend = "(W pid=1) INFO 11-30 13:05:20 [cpu.py:176] Using CPU_MLA backend."
    prefill = "INFO 11-30 13:05:20 [selector.py:131] Using CPU_SDPA_MLA MLA prefill backend."

    assert failed([*cpu, backend, prefill], lab) == {}


def test_another_backend_is_named(g4: Settings) -> None:
    other = BY_FLAG.replace("TRITON_MLA", "FLASHINFER_MLA_SPARSE_SM120")

    assert failed([*STARTED, other], g4) == {
        "attention backend TRITON_MLA": "missing",
        "no another attention backend": (
            "Using AttentionBackendEnum.FLASHINFER_MLA_SPARSE_SM120 backend."
        ),
    }


def test_what_must_not_be_logged_is_shown(g4: Settings) -> None:
    unknown = "W Unknown vLLM environment variable detected: VLLM_ATTENTION_BACKEND"
    old = "WARNING 11-30 13:05:20 [arg.py:1] --foo is deprecated and will be removed"

    assert failed([*STARTED, BY_FLAG, unknown, old], g4) == {
        "no unknown environment variable": (
            "Unknown vLLM environment variable detected: VLLM_ATTENTION_BACKEND"
        ),
        "no deprecated option": old,
    }


def test_warnings_of_python_and_torch_are_not_ours(g4: Settings) -> None:
    torch = "/x/dispatcher.py:138: FutureWarning: `torch.distributed.reduce_op` is deprecated"

    assert failed([*STARTED, BY_FLAG, torch], g4) == {}


def test_a_start_that_is_not_complete_says_so(g4: Settings) -> None:
    assert failed([BY_FLAG], g4) == {
        "KV cache size": "missing",
        "startup complete": "missing",
        "tool choice enabled": "missing",
    }


def test_no_journal_is_one_failure(g4: Settings) -> None:
    assert list(failed([], g4)) == ["this start"]


def test_a100_is_recognised_by_the_two_lines_of_its_source(
    inventory_file: Inventories, tmp_path: Path
) -> None:
    a100 = of_one_host("a100", inventory_file, **stand_in(tmp_path))
    backend = BY_FLAG.replace("TRITON_MLA", "TRITON_MLA_SPARSE")
    indexer = (
        "WARNING 11-30 13:05:19 [sparse_attn_indexer.py:1] DeepGEMM not supported on this platform; "
        "using Triton fallback for sparse attention indexer"
    )

    assert failed([*STARTED, backend, indexer], a100) == {}
    assert failed([*STARTED, backend], a100) == {"the indexer's Triton kernels": "missing"}
    assert failed([*STARTED, BY_FLAG, indexer], a100).keys() == {
        "attention backend TRITON_MLA_SPARSE",
        "no another attention backend",
    }


def test_a_fork_s_image_must_skip_indexers_and_may_know_other_variables(
    inventory_file: Inventories,
) -> None:
    b12x4 = of_one_host("b12x4", inventory_file)
    backend = BY_FLAG.replace("TRITON_MLA", "B12X_MLA_SPARSE")
    unknown = "W Unknown vLLM environment variable detected: VLLM_CACHE_DIR"
    skips = "I Using index_topk_pattern/index_topk_freq to skip sparse MLA indexer of layer 3"

    assert failed([*STARTED, backend, unknown, skips], b12x4) == {}
    assert failed([*STARTED, backend], b12x4) == {"layers that skip the indexer": "missing"}
