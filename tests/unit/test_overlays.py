"""Files of a change that no release holds: pinned, checked, never another release's own files."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from glmstead.commands.overlay import overlay
from glmstead.overlays import OverlayError, overlay_texts

COMMIT = "d" * 40
LOGITS = "vllm/v1/attention/ops/mqa_logits_triton.py"
TEXT = "def fp8_mqa_logits_triton(): ...\n\n\ndef fp8_paged_mqa_logits_triton(): ...\n"
Pin = Callable[..., tuple[int, str]]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    file = tmp_path / "source" / LOGITS
    file.parent.mkdir(parents=True)
    file.write_text(TEXT)
    return tmp_path / "source"


@pytest.fixture
def pin(tmp_path: Path, source: Path) -> Pin:
    """Run the command with its lists in a folder of the test; exit status and what it said."""

    def run(*paths: str, commit: str = COMMIT) -> tuple[int, str]:
        words = ["change", "--from", str(source), "--commit", commit]
        done = CliRunner().invoke(overlay, [*words, "--into", str(tmp_path / "lists"), *paths])
        return done.exit_code, done.output.strip()

    return run


def test_the_list_names_commit_and_sha256(pin: Pin, tmp_path: Path) -> None:
    assert pin(LOGITS)[0] == 0

    assert json.loads((tmp_path / "lists" / "change.json").read_text()) == {
        "commit": COMMIT,
        "files": {LOGITS: hashlib.sha256(TEXT.encode()).hexdigest()},
    }


@pytest.mark.parametrize(
    "path",
    [
        "vllm/platforms/cuda.py",
        "vllm/v1/attention/backends/registry.py",
        "vllm/model_executor/layers/sparse_attn_indexer.py",
    ],
)
def test_files_that_vllm_has_itself_are_never_taken(path: str, pin: Pin) -> None:
    assert pin(path) == (
        1,
        f"{path}: vLLM has this file itself, and the change's text of it is another release's: "
        "patches merge it; fix: leave it out",
    )


def test_a_file_of_another_shape_is_refused(pin: Pin, source: Path) -> None:
    (source / LOGITS).write_text("def fp8_mqa_logits_triton(): ...\n")

    assert pin(LOGITS) == (
        1,
        f"{LOGITS}: no fp8_paged_mqa_logits_triton in it; fix: choose another commit",
    )


def test_a_branch_name_is_no_commit(pin: Pin) -> None:
    status, said = pin(LOGITS, commit="main")

    assert (status, said) == (1, "--commit main: not a commit; fix: give its 40 hex digits")


def test_a_file_that_is_not_as_pinned_is_refused(pin: Pin, source: Path, tmp_path: Path) -> None:
    pin(LOGITS)
    lists = str(tmp_path / "lists")
    assert overlay_texts("change", lists, str(source)) == {LOGITS: TEXT}
    overlay_texts.cache_clear()
    (source / LOGITS).write_text(TEXT + "# more\n")

    with pytest.raises(OverlayError) as refused:
        overlay_texts("change", lists, str(source))

    assert f"{LOGITS} is " in str(refused.value)
    assert "fix: give that commit's files" in str(refused.value)
