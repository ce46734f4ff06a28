"""The engine on text: nothing is lost, nothing is made twice, nothing is guessed."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glmstead.patching.engine import apply, judge, revert
from glmstead.patching.rules import Environment
from tests.patch_samples import PATCHED, PATH, RELEASE, STOCK, patch, stop_patch

PATCH, OTHER = patch(), stop_patch()
HERE = Environment("3.11.7", "sample-cpu", RELEASE)
ANCHOR = '        self.sparse = hasattr(config, "topk")\n'


def verdict(data: bytes | None, of: dict[str, Any] = PATCH) -> str:
    return judge(of, HERE, {PATH: data}).verdict


def edited(data: bytes, of: dict[str, Any] = PATCH) -> bytes:
    return apply(of, PATH, data)


@st.composite
def forms(draw: st.DrawFn) -> bytes:
    """The sample as editors and systems leave it: BOM, CRLF, tabs, no final newline, any bytes."""
    comment = draw(st.binary(max_size=20).filter(lambda data: not set(data) & set(b"\r\n\0")))
    text = STOCK.encode().replace(b"\nimport os\n", b"\nimport os  # " + comment + b"\n")
    if any(byte > 127 for byte in comment):
        text = b"# -*- coding: latin-1 -*-\n" + text
    elif draw(st.booleans()):
        text = b"\xef\xbb\xbf" + text
    if draw(st.booleans()):
        text = text.replace(b"    ", b"\t")
    if draw(st.booleans()):
        text = text.replace(b"\n", b"\r\n")
    return text.rstrip() if draw(st.booleans()) else text


@given(forms())
def test_an_edit_is_made_once_and_undone_to_the_byte(data: bytes) -> None:
    assert verdict(data) == "pending"

    made = edited(data)

    assert verdict(made) == "applied"
    assert edited(made) == made
    assert revert(PATCH, PATH, made) == data


@given(forms())
def test_an_edit_changes_its_own_line_only(data: bytes) -> None:
    before, after = data.splitlines(keepends=True), edited(data).splitlines(keepends=True)
    different = [(old, new) for old, new in zip(before, after, strict=True) if old != new]

    ((old, new),) = different
    assert old.strip() == b'self.sparse = hasattr(config, "topk")'
    assert new.strip() == b"self.sparse = False  # NO_SPARSE"
    assert old[: len(old) - len(old.lstrip())] == new[: len(new) - len(new.lstrip())]
    assert old[len(old.rstrip()) :] == new[len(new.rstrip()) :]


@given(forms())
def test_two_patches_of_one_file_come_out_the_same_in_either_order(data: bytes) -> None:
    one, other = edited(edited(data), OTHER), edited(edited(data, OTHER))

    assert one == other
    assert (verdict(one), verdict(one, OTHER)) == ("applied", "applied")
    for first, second in ((PATCH, OTHER), (OTHER, PATCH)):
        assert revert(second, PATH, revert(first, PATH, one)) == data


@given(forms(), st.integers(min_value=0, max_value=400))
def test_a_file_cut_off_anywhere_is_never_made_worse(data: bytes, length: int) -> None:
    cut = data[:length]

    found = verdict(cut)

    assert found in ("pending", "unknown")
    if found == "pending":
        compile(edited(cut), PATH, "exec")
        assert revert(PATCH, PATH, edited(cut)) == cut


@given(st.binary(max_size=200))
def test_any_bytes_are_judged_and_kept(data: bytes) -> None:
    assert verdict(data) == "unknown"
    assert edited(data) == data
    assert revert(PATCH, PATH, data) == data


@given(forms(), st.sampled_from([b"# NO_SPARSE\n", b"x = 'NO_SPARSE'\n", b"NO_SPARSE = 1\n"]))
def test_a_tag_in_a_foreign_place_is_drift(data: bytes, line: bytes) -> None:
    ending = b"\r\n" if b"\r\n" in data else b"\n"
    text = data + (b"" if data.endswith(b"\n") else ending) + line

    assert verdict(text) == "drifted"
    assert revert(PATCH, PATH, edited(text)) == text


@pytest.mark.parametrize(
    "line",
    [
        '        # self.sparse = hasattr(config, "topk")\n',
        "        text = 'self.sparse = hasattr(config, \"topk\")'\n",
        '        text = """\n        self.sparse = hasattr(config, "topk")\n        """\n',
        '        self.sparse = hasattr(config, "topk")  # or not\n',
        "        NO_SPARSE_AT_ALL = 1\n",
    ],
)
def test_an_anchor_in_a_comment_or_string_is_no_anchor(line: str) -> None:
    beside = STOCK.replace(ANCHOR, line + ANCHOR)
    alone = STOCK.replace(ANCHOR, line).replace("self.sparse\n", "True\n")

    assert edited(beside.encode()).decode() == PATCHED.replace(
        "        self.sparse = False", line + "        self.sparse = False"
    )
    assert verdict(alone.encode()) == "unknown"


def test_an_anchor_in_another_function_is_left_alone() -> None:
    moved = STOCK.replace("def start", "def begin").encode()

    found = judge(PATCH, HERE, {PATH: moved})

    assert found.verdict == "unknown"
    assert "stands in Engine.begin, not in Engine.start" in found.reason


def test_an_anchor_that_stands_twice_is_left_alone() -> None:
    assert verdict(STOCK.replace(ANCHOR, ANCHOR * 2).encode()) == "unknown"


def test_half_of_two_edits_is_told_apart() -> None:
    edits = [*PATCH["files"][0]["edits"], *stop_patch("NO_SPARSE")["files"][0]["edits"]]
    both = {**PATCH, "files": [{"path": PATH, "edits": edits}]}

    found = judge(both, HERE, {PATH: PATCHED.encode()})

    assert (found.verdict, found.repairable) == ("half-applied", False)
    assert "1 of 2 edits" in found.reason


def test_a_tag_over_another_text_is_drift() -> None:
    found = judge(PATCH, HERE, {PATH: PATCHED.replace("= False", "= None").encode()})

    assert found.verdict == "drifted"
    assert found.reason.endswith("reinstall the wheel, then apply again")


@given(forms())
def test_an_added_line_ends_as_the_file_does(data: bytes) -> None:
    made = edited(data, OTHER)

    assert made.count(b"\n") == data.count(b"\n") + 1
    assert made.count(b"\r\n") == (made.count(b"\n") if b"\r\n" in data else 0)
