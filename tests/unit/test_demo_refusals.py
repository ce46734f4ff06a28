"""What scripts/demo refuses before it installs or changes anything."""

import os
import subprocess

import pytest

from glmstead import ROOT


@pytest.mark.parametrize(
    ("words", "subnet", "line"),
    [
        (
            ["--frsh"],
            "10.77.42.0/24",
            "unknown option --frsh; fix: use scripts/demo [--fresh]",
        ),
        (
            ["--fresh", "lab7"],
            "10.77.42.0/24",
            "unknown option --fresh lab7; fix: use scripts/demo [--fresh]",
        ),
        (
            [],
            "mine",
            "GLMSTEAD_LAB_SUBNET=mine is no network; fix: use one such as 10.77.42.0/24",
        ),
        (
            [],
            "10.77.42.0",
            "GLMSTEAD_LAB_SUBNET=10.77.42.0 is no network; fix: use one such as 10.77.42.0/24",
        ),
    ],
)
def test_a_wrong_word_or_subnet_is_one_line(words: list[str], subnet: str, line: str) -> None:
    done = subprocess.run(
        [ROOT / "scripts" / "demo", *words],
        env={**os.environ, "GLMSTEAD_LAB_SUBNET": subnet},
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )

    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"demo: {line}\n")
