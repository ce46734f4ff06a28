"""Version windows on hosts without ``packaging``: the same answers as with it."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from glmstead.patching.releases import contains

numbers = st.lists(st.integers(0, 3), min_size=1, max_size=3).map(
    lambda parts: ".".join(map(str, parts))
)
suffixes = st.sampled_from(
    [
        "",
        "a1",
        "b2",
        "rc1",
        ".post1",
        ".post4",
        ".dev3",
        "rc1.dev5",
        ".post1.dev2",
        "+cpu",
        "rc1+cu130",
    ]
)
versions = st.tuples(numbers, suffixes).map("".join)
bounds = versions.filter(lambda version: "+" not in version)
clauses = st.tuples(st.sampled_from(["==", "!=", ">=", "<=", ">", "<"]), bounds).map("".join)


@settings(derandomize=True)
@given(st.lists(clauses, min_size=1, max_size=3).map(",".join), versions)
def test_windows_admit_what_packaging_admits(window: str, version: str) -> None:
    # Releases of packaging differ on a pre-release of V under "<V.postN", and on "V.postN" under
    # ">VaN": no window of ours is of that kind.
    asked = Version(version)
    assume(not ("<" in window and asked.is_prerelease))
    assume(not (">" in window and asked.is_postrelease))
    assert contains(window, version) == SpecifierSet(window).contains(version, prereleases=True)


@pytest.mark.parametrize(
    ("window", "version", "expected"),
    [
        (">=0.25.0,<0.29.0", "0.28.0", True),
        (">=0.25.0,<0.29.0", "0.29.0", False),
        (">=0.25.0,<0.29.0", "0.29.0rc1", False),
        (">=0.25.0,<0.29.0", "0.26.1rc1.dev12+g0ff1ce", True),
        (">=0.6.16,<0.6.16.post4", "0.6.16.post3", True),
        (">=0.6.16,<0.6.16.post4", "0.6.16.post4", False),
        (">=0.6.16,<0.6.16.post4", "0.6.17", False),
        ("==0.32.0", "0.32.0+cpu", True),
        (">=3.10", "3.9.18", False),
    ],
)
def test_windows_of_the_catalogue(window: str, version: str, expected: bool) -> None:
    assert contains(window, version) is expected


@pytest.mark.parametrize(("window", "version"), [(">=1", "abc"), ("~=1.0", "1.0"), ("1.0", "1.0")])
def test_what_cannot_be_read_is_an_error(window: str, version: str) -> None:
    with pytest.raises(ValueError, match="is no version"):
        contains(window, version)
