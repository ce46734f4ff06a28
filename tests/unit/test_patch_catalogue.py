"""Patch files: the real ones load, a wrong one is refused in one line with the fix."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from glmstead.patching.catalogue import CatalogueError, load_catalogue, load_patch

GOOD: dict[str, Any] = {
    "tag": "NO_SPARSE",
    "why": "it must not be sparse",
    "upstream": ["https://example.org/issues/1"],
    "package": "sample",
    "releases": {"sample": ">=1,<2"},
    "files": [
        {
            "path": "sample/engine.py",
            "edits": [{"within": ["run"], "find": "x = 1\n", "put": "x = 2  # NO_SPARSE\n"}],
        }
    ],
}


def edit(**changes: Any) -> dict[str, Any]:
    return {
        "files": [
            {"path": "sample/engine.py", "edits": [{**GOOD["files"][0]["edits"][0], **changes}]}
        ]
    }


def refusal(folder: Path, name: str = "NO_SPARSE.yaml", **changes: Any) -> str:
    path = folder / name
    path.write_text(yaml.safe_dump({**GOOD, **changes}))
    with pytest.raises(CatalogueError) as refused:
        load_patch(path)
    return str(refused.value)


def test_the_catalogue_holds_what_the_routes_need() -> None:
    catalogue = load_catalogue()

    assert list(catalogue) == [
        "ABORT_RACE_FIX",
        "AMPERE_INDEXER_GUARD",
        "AMPERE_LAZY_INIT",
        "AMPERE_SPARSE_BACKEND",
        "AMPERE_SPARSE_INDEXER",
        "AMPERE_SPARSE_PRIORITY",
        "CPU_RAY_DEVICE_KEY",
        "CPU_SHM_GROUP_NAME",
        "DENSE_FALLBACK",
        "DENSE_OLD_CLASS",
        "FD_EXCHANGE_ANNOTATIONS",
        "HEAD_PAD_TP16",
        "MASKED_MHA_NA",
        "MTP_GUARD",
        "PATCHED-NO-CROSSNODE-SYMM",
    ]
    needed = [tag for tag, patch in catalogue.items() if not patch.optional]
    assert needed == [
        "ABORT_RACE_FIX",
        "DENSE_FALLBACK",
        "FD_EXCHANGE_ANNOTATIONS",
        "PATCHED-NO-CROSSNODE-SYMM",
    ]


def test_a_good_file_loads(tmp_path: Path) -> None:
    path = tmp_path / "NO_SPARSE.yaml"
    path.write_text(yaml.safe_dump(GOOD))

    assert load_patch(path).plain()["files"][0]["edits"] == [
        {"within": ["run"], "find": ["x = 1"], "put": ["x = 2  # NO_SPARSE"]}
    ]


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        (
            {"tagg": "x"},
            "NO_SPARSE.yaml: tagg: 'x': fix: Extra inputs are not permitted",
        ),
        (
            {"releases": {"sample": "about 1"}},
            "NO_SPARSE.yaml: releases.sample: 'about 1': fix: write clauses such as \">=0.25,<0.29\"",
        ),
        (
            {"releases": {"sample": "~=1.0"}},
            "NO_SPARSE.yaml: releases.sample: '~=1.0': fix: write clauses such as \">=0.25,<0.29\"",
        ),
        (
            {"releases": {"sample": ">=2,~=2.1"}},
            "NO_SPARSE.yaml: releases.sample: '>=2,~=2.1': fix: write clauses such as "
            '">=0.25,<0.29"',
        ),
        (
            {"python": ""},
            "NO_SPARSE.yaml: python: '': fix: write clauses such as \">=0.25,<0.29\", an empty "
            "window admits anything",
        ),
        (
            edit(within=[]),
            "NO_SPARSE.yaml: files.0.edits.0.within: []: fix: List should have at least 1 item "
            "after validation, not 0",
        ),
        (
            {"files": GOOD["files"] * 2},
            "NO_SPARSE.yaml: patch: fix: give all edits of a file in one entry",
        ),
        (
            {"files": [{"path": "sample/a.py", "edits": [{"one_of": [{"one_of": []}]}]}]},
            "NO_SPARSE.yaml: files.0.edits.0: fix: give each choice of one_of within, find and put",
        ),
        (
            edit(put="x = 2\n"),
            "NO_SPARSE.yaml: patch: fix: write the tag once, in a comment of 'x = 2'",
        ),
        (
            edit(put="NO_SPARSE = 2\n"),
            "NO_SPARSE.yaml: patch: fix: write the tag once, in a comment of 'NO_SPARSE = 2'",
        ),
        (
            edit(find="  x = 1\n"),
            "NO_SPARSE.yaml: files.0.edits.0.find: '  x = 1\\n': fix: start the first line without indent",
        ),
        (
            edit(after="docstring"),
            "NO_SPARSE.yaml: files.0.edits.0: fix: give within, find and put; or after and put; or one_of",
        ),
        (
            {"package": "other"},
            "NO_SPARSE.yaml: patch: fix: move sample/engine.py to a patch of its own package",
        ),
        (
            {
                "rules": [
                    {
                        "verdict": "inert",
                        "reason": "r",
                        "when": [{"file": "sample/a.py", "has": "("}],
                    }
                ]
            },
            "NO_SPARSE.yaml: rules.0.when.0.has: '(': fix: write a regular expression (missing ), "
            "unterminated subpattern at position 0)",
        ),
        (
            {"rules": [{"verdict": "inert", "reason": "r", "when": [{"has": "x"}]}]},
            "NO_SPARSE.yaml: rules.0.when.0: fix: give file with has, lacks or exists; or build, "
            "not_build, installed",
        ),
        (
            {"rules": [{"verdict": "applied", "reason": "r", "when": [{"installed": True}]}]},
            "NO_SPARSE.yaml: rules.0.verdict: 'applied': fix: Input should be 'fixed upstream', "
            "'not needed', 'inert', 'unsafe' or 'unknown'",
        ),
        (
            {"optional": "yes"},
            "NO_SPARSE.yaml: optional: 'yes': fix: Input should be a valid boolean",
        ),
    ],
)
def test_a_wrong_file_is_one_line(changes: dict[str, Any], line: str, tmp_path: Path) -> None:
    assert refusal(tmp_path, **changes) == line


def test_a_file_must_bear_the_name_of_its_tag(tmp_path: Path) -> None:
    line = refusal(tmp_path, name="OTHER.yaml")

    assert line == "OTHER.yaml: tag: 'NO_SPARSE': fix: name the file NO_SPARSE.yaml"


@pytest.mark.parametrize(
    "text", ["tag: [\n", "why: 2024-13-45\n", "[" * 3000, "why: a\nwhy: b\n", "why: \x00"]
)
def test_a_file_that_is_no_yaml_is_one_line(text: str, tmp_path: Path) -> None:
    path = tmp_path / "NO_SPARSE.yaml"
    path.write_text(text)

    with pytest.raises(CatalogueError, match=r"^NO_SPARSE\.yaml: not YAML: [^\n]+$"):
        load_patch(path)


def test_a_file_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "NO_SPARSE.yaml").mkdir()

    with pytest.raises(CatalogueError, match=r"^NO_SPARSE\.yaml: not readable: Is a directory$"):
        load_catalogue(tmp_path)
