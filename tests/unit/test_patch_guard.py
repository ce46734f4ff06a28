"""A unit does not start without its patches, and says so in one line, at once."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from glmstead.patching import guard
from glmstead.patching.policy import manifest
from tests.patch_samples import STOCK, ask, install, patch

GUARD = str(guard.__file__)
REPAIR = "repair: run the deploy again (pyinfra INVENTORY deploy.py)"


def recorded(folder: Path) -> tuple[Path, Path]:
    """A patched module, and the list that a deploy leaves behind."""
    module = install(folder)
    answer = ask("apply", [patch()], "NO_SPARSE", paths=[folder])
    listed = folder / "patches.json"
    listed.write_text(json.dumps(manifest(answer.rows.values(), ["NO_SPARSE"])))
    return module, listed


def start(listed: Path) -> tuple[int, str]:
    run = subprocess.run([sys.executable, GUARD, str(listed)], capture_output=True, text=True)
    return run.returncode, run.stderr.rstrip("\n")


def test_a_patched_environment_starts(tmp_path: Path) -> None:
    _, listed = recorded(tmp_path)

    assert start(listed) == (0, "")


def test_a_reinstalled_file_is_named_with_the_repair(tmp_path: Path) -> None:
    module, listed = recorded(tmp_path)
    module.write_text(STOCK)

    assert start(listed) == (1, f"glmstead: patch NO_SPARSE is missing in {module}; {REPAIR}")


def test_a_file_that_was_changed_since_is_told_from_a_missing_patch(tmp_path: Path) -> None:
    module, listed = recorded(tmp_path)
    module.write_text(module.read_text() + "# more\n")

    line = f"glmstead: patch NO_SPARSE: {module} was changed after the deploy; {REPAIR}"
    assert start(listed) == (1, line)


def test_an_absent_file_is_named(tmp_path: Path) -> None:
    module, listed = recorded(tmp_path)
    module.unlink()

    line = f"glmstead: patch NO_SPARSE: {module}: No such file or directory; {REPAIR}"
    assert start(listed) == (1, line)


def test_without_its_list_a_unit_does_not_start(tmp_path: Path) -> None:
    code, line = start(tmp_path / "none.json")

    assert code == 1
    assert line.startswith("glmstead: no list of patches: [Errno 2]")


def test_it_costs_less_than_300_ms(tmp_path: Path) -> None:
    _, listed = recorded(tmp_path)
    times = []

    for _ in range(3):
        begin = time.perf_counter()
        start(listed)
        times.append(time.perf_counter() - begin)

    assert min(times) < 0.3


@pytest.mark.parametrize("text", ["[]", '{"A": 1}', '{"A": [{}]}', '{"A": [{"file": null}]}', "{"])
def test_a_damaged_list_is_one_line(text: str, tmp_path: Path) -> None:
    listed = tmp_path / "patches.json"
    listed.write_text(text)

    code, line = start(listed)

    assert code == 1
    assert line.startswith("glmstead: no list of patches: ")
    assert line.count("\n") == 0
