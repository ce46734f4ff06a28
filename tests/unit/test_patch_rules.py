"""Each verdict for its reason, whatever the anchors say."""

from typing import Any

import pytest

from glmstead.patching.engine import judge
from glmstead.patching.rules import Environment
from tests.patch_samples import PATCHED, PATH, RELEASE, STOCK, patch

REGISTRY = "sample/registry.py"
HERE = Environment("3.11.7", "sample-cpu", RELEASE, frozenset([PATH]))


def ruled(verdict: str, *when: dict[str, Any]) -> dict[str, Any]:
    return patch(rules=[{"verdict": verdict, "reason": "so it is", "when": list(when)}])


def verdict(
    of: dict[str, Any], sources: dict[str, str] | None = None, here: Environment = HERE
) -> str:
    found = {PATH: STOCK, **(sources or {})}
    data = {path: text.encode() for path, text in found.items()}
    return judge(of, here, {REGISTRY: None, **data}).verdict


@pytest.mark.parametrize("word", ["fixed upstream", "not needed", "inert", "unsafe", "unknown"])
def test_a_rule_that_holds_gives_its_verdict(word: str) -> None:
    rule = ruled(word, {"file": REGISTRY, "lacks": "engine"})

    assert verdict(rule, {REGISTRY: "other = 1\n"}) == word
    assert verdict(rule, {REGISTRY: "engine = 1\n"}) == "pending"


@pytest.mark.parametrize("word", ["fixed upstream", "not needed"])
def test_no_file_that_somebody_broke_passes_as_needing_nothing(word: str) -> None:
    rule = ruled(word, {"file": PATH, "has": "^import os"})
    edited = HERE._replace(stock=frozenset())

    assert verdict(rule, {PATH: STOCK}, edited) == word
    for broken in ("(((\n", "from __future__ import annotations\n", f"x = {'-' * 20000}1\n"):
        assert verdict(rule, {PATH: STOCK + broken}, edited) == "unknown"


def test_every_condition_must_hold() -> None:
    rule = ruled("inert", {"file": REGISTRY, "has": "^other"}, {"not_build": "cpu"})

    assert verdict(rule, {REGISTRY: "other = 1\n"}) == "pending"
    assert (
        verdict(rule, {REGISTRY: "other\n"}, Environment("3.11.7", "sample", "1.2.0+cu130"))
        == "inert"
    )


def test_a_build_is_told_by_distribution_or_version() -> None:
    rule = ruled("not needed", {"build": "cpu"})
    here = [
        Environment("3.11.7", "sample-cpu", "1.2.0"),
        Environment("3.11.7", "sample", "1.2.0+cpu"),
        Environment("3.11.7", "sample", "1.2.0+cu130"),
    ]

    assert [verdict(rule, here=one) for one in here] == ["not needed", "not needed", "unknown"]


def test_an_absent_file_neither_has_nor_lacks() -> None:
    for test in ({"has": "."}, {"lacks": "."}):
        assert verdict(ruled("inert", {"file": REGISTRY, **test})) == "pending"
    assert verdict(ruled("not needed", {"file": REGISTRY, "exists": False})) == "not needed"


def test_a_sign_of_the_fix_is_not_seen_in_our_own_edit() -> None:
    rule = ruled("fixed upstream", {"file": PATH, "has": "sparse = False"})

    assert verdict(rule, {PATH: PATCHED}) == "applied"
    assert (
        verdict(rule, {PATH: STOCK.replace('hasattr(config, "topk")', "False")}) == "fixed upstream"
    )


def test_an_applied_patch_without_effect_is_inert() -> None:
    rule = ruled("inert", {"file": REGISTRY, "lacks": "engine"})
    sources = {PATH: PATCHED.encode(), REGISTRY: b"other = 1\n"}

    found = judge(rule, HERE, sources)

    assert (found.verdict, found.reason) == (
        "inert",
        "so it is; its edit is in the file: revert it",
    )


def test_a_python_that_needs_no_edit() -> None:
    old = patch(python="<3.12")

    assert verdict(old, here=HERE._replace(python="3.11.7")) == "pending"
    assert verdict(old, here=HERE._replace(python="3.12.1")) == "not needed"


def test_an_absent_package_is_unknown_unless_a_rule_says_otherwise() -> None:
    nowhere = Environment("3.11.7")

    assert judge(patch(), nowhere, {PATH: None}).verdict == "unknown"
    assert (
        judge(ruled("not needed", {"installed": False}), nowhere, {PATH: None}).verdict
        == "not needed"
    )


def test_a_file_that_no_longer_compiles_is_left_alone() -> None:
    broken = (STOCK + "def cut(\n").encode()

    found = judge(patch(), HERE._replace(stock=frozenset()), {PATH: broken})

    assert found.verdict == "unknown"
    assert found.reason.startswith("sample/engine.py does not compile (line 15")


def test_a_release_of_somebodys_own_is_unknown() -> None:
    assert verdict(patch(), here=HERE._replace(release="our-build-7")) == "unknown"
    assert verdict(patch(), here=HERE._replace(release="", distribution=None)) == "unknown"


def test_an_applied_patch_outside_the_window_is_unknown() -> None:
    assert verdict(patch(), {PATH: PATCHED}, HERE._replace(release="2.0")) == "unknown"
