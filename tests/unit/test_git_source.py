"""The picked change on a small repository of vLLM's shape: by rule, checked, once, never moved."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from glmstead import probes

PROGRAM = Path(probes.__file__).with_name("git_source.py")
INDEXER = "vllm/model_executor/layers/sparse_attn_indexer.py"
BACKEND = "vllm/v1/attention/backends/mla/triton_mla_sparse.py"
STUB = "csrc/quantization/fp4/nvfp4_quant_entry.cu"
OLD = "def dispatch():\n    return deep_gemm()\n"
UPSTREAM = "def dispatch():\n    if is_xpu():\n        return xpu()\n    return deep_gemm()\n"
CHANGE = "def dispatch():\n    if use_deep_gemm:\n        return deep_gemm()\n    return triton()\n"


@dataclass
class Upstream:
    """A repository with main, and a change on an older commit behind a ref."""

    folder: Path

    def git(self, *words: str) -> str:
        who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        run = ["git", "-C", str(self.folder), *who, *words]
        return subprocess.run(run, capture_output=True, text=True, check=True).stdout.strip()

    def commit(self, message: str, **files: str) -> str:
        for path, text in files.items():
            file = self.folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        self.git("add", "--all")
        self.git("commit", "-qm", message)
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def upstream(tmp_path: Path) -> Upstream:
    made = Upstream(tmp_path / "upstream")
    made.folder.mkdir()
    made.git("init", "-qb", "main")
    made.git("config", "uploadpack.allowAnySHA1InWant", "true")
    base = made.commit("base", **{INDEXER: OLD, "README.md": "vLLM\n"})
    made.commit("xpu", **{INDEXER: UPSTREAM})
    made.git("checkout", "-q", base)
    made.commit("change", **{INDEXER: CHANGE, BACKEND: "X = 1\n", STUB: "// stub\n"})
    made.git("update-ref", "refs/pull/38476/head", "HEAD")
    made.git("checkout", "-q", "main")
    return made


@pytest.fixture
def request_(upstream: Upstream, tmp_path: Path) -> dict[str, Any]:
    return {
        "make": True,
        "root": str(tmp_path / "checkout"),
        "url": str(upstream.folder),
        "commit": upstream.git("rev-parse", "main"),
        "pick_ref": "pull/38476/head",
        "pick_commit": upstream.git("rev-parse", "refs/pull/38476/head"),
        "drop": ["csrc/*nvfp4_quant_entry.cu"],
        "ours": [INDEXER],
        "only": ["*.py", "*.md"],
        "python": "/nonexistent/bin/python",
    }


def ask(request: dict[str, Any], **changes: Any) -> "subprocess.CompletedProcess[str]":
    words = [sys.executable, str(PROGRAM), json.dumps({**request, **changes})]
    return subprocess.run(words, capture_output=True, text=True)


def made(request: dict[str, Any], **changes: Any) -> dict[str, Any]:
    run = ask(request, **changes)
    assert run.returncode == 0, run.stderr
    answer: dict[str, Any] = json.loads(run.stdout)
    return answer


def refused(request: dict[str, Any], **changes: Any) -> str:
    run = ask(request, **changes)
    assert (run.returncode, run.stdout) == (1, "")
    assert len(run.stderr.splitlines()) == 1
    return run.stderr.strip()


def files(request: dict[str, Any]) -> dict[str, str]:
    root = Path(request["root"])
    return {
        str(p.relative_to(root)): p.read_text() for p in root.rglob("*.*") if ".git" not in p.parts
    }


def test_the_change_lies_on_upstream_the_conflict_by_rule_the_stub_dropped(
    request_: dict[str, Any],
) -> None:
    found = made(request_)

    assert files(request_) == {INDEXER: UPSTREAM, BACKEND: "X = 1\n", "README.md": "vLLM\n"}
    assert found["made_of"]["pick_commit"] == request_["pick_commit"]


def test_a_second_run_finds_it_made(request_: dict[str, Any]) -> None:
    first = made(request_)

    assert made(request_, make=False) == first


def test_another_commit_checked_out_by_hand_is_not_what_was_made(
    request_: dict[str, Any],
) -> None:
    made(request_)
    words = ["git", "-C", request_["root"], "checkout", "-q", request_["commit"]]
    subprocess.run(words, check=True)

    assert made(request_, make=False)["made_of"] is None


def test_a_moved_branch_is_refused_and_nothing_changes(
    request_: dict[str, Any], upstream: Upstream
) -> None:
    made(request_)
    before = files(request_)
    upstream.git("checkout", "-q", "refs/pull/38476/head")
    moved = upstream.commit("more", **{BACKEND: "X = 2\n"})
    upstream.git("update-ref", "refs/pull/38476/head", "HEAD")

    said = refused(request_)

    assert said == (
        f"git checkout: pull/38476/head is {moved[:12]} now, not git_pick_commit "
        f"{request_['pick_commit'][:12]}: read it, then pin it"
    )
    assert files(request_) == before
    assert made(request_, make=False)["made_of"] is not None


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"ours": []}, f"git checkout: conflict in {INDEXER}: no rule for it (git_ours)"),
        (
            {"drop": []},
            f"git checkout: the change touches {STUB}: that needs a compiler (git_only, git_drop)",
        ),
    ],
)
def test_what_no_rule_covers_is_refused(
    changes: dict[str, Any], reason: str, request_: dict[str, Any]
) -> None:
    made(request_)
    patched = Path(request_["root"], BACKEND)
    patched.write_text("X = 1  # patched\n")

    assert refused(request_, **changes) == reason
    assert patched.read_text() == "X = 1  # patched\n"  # an engine may run from it
    assert made(request_, make=False)["made_of"] == {
        name: request_[name] for name in request_ if name not in ("make", "root", "python")
    }
