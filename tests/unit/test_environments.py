"""What an environment lacks, and what two hosts of a cluster may not differ in."""

from hashlib import sha256

import pytest
from pyinfra.api import StringCommand

from glmstead.lock import lock_path, pins
from glmstead.operations.environments import Sources, differences, disagreements

LOCK = """\
ray[default]==2.58.0 \\
    --hash=sha256:aa
torch==2.13.0+cpu \\
    --hash=sha256:bb
tomli==2.0.1 ; python_full_version < '3.11' \\
    --hash=sha256:cc
Typing_Extensions==4.15.0
"""
AS_LOCKED = {"ray": "2.58.0", "torch": "2.13.0+cpu", "typing-extensions": "4.15.0"}


def state(**changed: object) -> dict[str, object]:
    locked = sha256(LOCK.encode()).hexdigest()
    return {"python": "3.11.2", "lock": locked, "versions": AS_LOCKED, **changed}


def test_pins_know_extras_local_versions_and_markers() -> None:
    assert pins(LOCK, "3.11") == AS_LOCKED
    assert pins(LOCK, "3.10") == {**AS_LOCKED, "tomli": "2.0.1"}


@pytest.mark.parametrize("name", ["lab", "g4", "gateway", "uv"])
def test_every_committed_lock_is_read_and_hashed(name: str) -> None:
    text = lock_path(name).read_text()
    found = pins(text, "3.11")

    assert found
    assert text.count("--hash=sha256:") >= len(found)
    assert "://" not in text


def test_an_environment_as_locked_differs_in_nothing() -> None:
    assert differences(state(), LOCK, "3.11") == []
    assert differences(state(versions={**AS_LOCKED, "pip": "25.0"}), LOCK, "3.11") == []


@pytest.mark.parametrize(
    ("changed", "line"),
    [
        ({"python": None}, "no environment"),
        ({"lock": None}, "installed from another lock"),
        (
            {"versions": {**AS_LOCKED, "torch": "2.13.0"}},
            "torch 2.13.0 instead of 2.13.0+cpu",
        ),
        ({"versions": {**AS_LOCKED, "torchvision": "1"}}, "torchvision 1 instead of absent"),
        (
            {"versions": {n: v for n, v in AS_LOCKED.items() if n != "ray"}},
            "ray absent instead of 2.58.0",
        ),
    ],
)
def test_every_difference_is_named(changed: dict[str, object], line: str) -> None:
    assert differences(state(**changed), LOCK, "3.11") == [line]


def test_hosts_agree_to_the_patch_level() -> None:
    here = state(python="3.11.2")
    there = state(python="3.11.9", versions={**AS_LOCKED, "ray": "2.57.0"})

    assert disagreements(here, here) == []
    assert disagreements(here, there) == [
        "Python 3.11.2 here, 3.11.9 there",
        "ray 2.58.0 here, 2.57.0 there",
    ]


def test_an_air_gapped_site_asks_no_index() -> None:
    words = Sources(find_links=("/srv/my wheels",), offline=True).arguments()

    line = StringCommand(*words).get_raw_value()
    assert line == "--no-index --find-links '/srv/my wheels'"
