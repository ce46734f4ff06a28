"""The other forms of an edit: behind the docstring, alternatives, files that a patch brings."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glmstead.patching.engine import apply, judge, revert
from glmstead.patching.rules import Environment
from tests.patch_samples import PATH, RELEASE, STOCK, patch

HERE = Environment("3.11.7", "sample-cpu", RELEASE)
FUTURE = "from __future__ import annotations  # LATE\n"
LATE = patch("LATE", files=[{"path": PATH, "edits": [{"after": "docstring", "put": FUTURE}]}])
BRINGS = patch("BRINGS", files=[{"path": "sample/kernel.py", "content": "# BRINGS: ours\nX = 1\n"}])


def verdict(of: dict[str, Any], **sources: bytes | None) -> str:
    return judge(of, HERE, {PATH: None, **sources}).verdict


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"""Doc."""\nx = 1\n', '"""Doc."""\n{}x = 1\n'),
        (
            '# licence\n\n"""Two\nlines."""  # noqa\n\nx = 1\n',
            '# licence\n\n"""Two\nlines."""  # noqa\n{}\nx = 1\n',
        ),
        ("r'''Raw \\'''s.'''\nx = 1\n", "r'''Raw \\'''s.'''\n{}x = 1\n"),
        ("'One.'\nx = 1\n", "'One.'\n{}x = 1\n"),
        ("# no docstring\nx = 1\n", "# no docstring\n{}x = 1\n"),
        ("x = 1\n", "{}x = 1\n"),
        ("", "{}"),
    ],
)
def test_a_line_goes_behind_the_docstring(before: str, after: str) -> None:
    made = apply(LATE, PATH, before.encode())

    assert made.decode() == after.format(FUTURE)
    assert apply(LATE, PATH, made) == made
    assert revert(LATE, PATH, made) == before.encode()


@pytest.mark.parametrize("text", ['"""Doc."""; x = 1\n', '"""Never ends\nx = 1\n'])
def test_a_docstring_whose_end_cannot_be_told_is_left_alone(text: str) -> None:
    assert verdict(LATE, **{PATH: text.encode()}) == "unknown"
    assert apply(LATE, PATH, text.encode()) == text.encode()


@given(
    st.sampled_from(["", "\ufeff", "# hash\n", "\n\n"]),
    st.sampled_from(['"""Doc."""', "'''Doc\n\nmore'''", '"Doc"', ""]),
    st.sampled_from(["", "\n", "\nx = 1", "\n\nx = 1\n"]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_behind_any_docstring_and_back(head: str, doc: str, tail: str, newline: str) -> None:
    data = (head + doc + tail).replace("\n", newline).encode()

    made = apply(LATE, PATH, data)

    assert (verdict(LATE, **{PATH: data}), verdict(LATE, **{PATH: made})) == ("pending", "applied")
    assert apply(LATE, PATH, made) == made
    assert revert(LATE, PATH, made) == data
    compile(made, PATH, "exec")


def choices(*puts: str) -> dict[str, Any]:
    finds = ('self.sparse = hasattr(config, "topk")\n', "self.sparse = True\n")
    edits = [
        {"within": ["Engine.start"], "find": find, "put": put}
        for find, put in zip(finds, puts, strict=True)
    ]
    return patch("EITHER", files=[{"path": PATH, "edits": [{"one_of": edits}]}])


def test_the_alternative_that_fits_is_taken() -> None:
    either = choices("self.sparse = None  # EITHER\n", "self.sparse = False  # EITHER\n")
    old = STOCK.encode()
    new = old.replace(b'hasattr(config, "topk")', b"True")

    for data, expected in ((old, b"= None  # EITHER"), (new, b"= False  # EITHER")):
        made = apply(either, PATH, data)
        assert verdict(either, **{PATH: data}) == "pending"
        assert verdict(either, **{PATH: made}) == "applied"
        assert expected in made
        assert revert(either, PATH, made) == data


def test_an_edit_that_could_not_be_undone_is_not_made() -> None:
    same = choices("self.sparse = False  # EITHER\n", "self.sparse = False  # EITHER\n")

    found = judge(same, HERE, {PATH: STOCK.encode()})

    assert found.verdict == "unknown"
    assert found.reason == "sample/engine.py: the edit could not be undone exactly"


def test_a_file_that_a_patch_brings_comes_and_goes() -> None:
    made = apply(BRINGS, "sample/kernel.py", None)

    assert made == b"# BRINGS: ours\nX = 1\n"
    for data, expected in ((None, "pending"), (made, "applied"), (b"theirs = 1\n", "unknown")):
        assert judge(BRINGS, HERE, {"sample/kernel.py": data}).verdict == expected
    assert revert(BRINGS, "sample/kernel.py", made) is None
    assert revert(BRINGS, "sample/kernel.py", b"theirs = 1\n") == b"theirs = 1\n"


def test_a_changed_file_of_ours_is_drift() -> None:
    changed = b"# BRINGS: ours\nX = 2\n"

    assert judge(BRINGS, HERE, {"sample/kernel.py": changed}).verdict == "drifted"
