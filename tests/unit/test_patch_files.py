"""Files on a host: written whole or not at all, and never the installer's own copy."""

import os
import shutil
import signal
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from glmstead.patching.program import program_arguments
from glmstead.patching.writer import locked, replace
from tests.patch_samples import (
    PATCHED,
    PATH,
    STOCK,
    ask,
    install,
    make_venv,
    patch,
    stop_patch,
    wheel,
)

PATCH = patch()
BROKEN = patch(
    "BROKEN",
    files=[
        {
            "path": PATH,
            "edits": [
                {"within": ["Engine.stop"], "find": "return os.getpid()", "put": "(  # BROKEN"}
            ],
        }
    ],
)
GONE = patch(
    "GONE",
    files=[
        {
            "path": PATH,
            "edits": [{"within": ["Engine.stop"], "find": "return 0", "put": "return 1  # GONE"}],
        }
    ],
)


def temporary_files(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob(".glmstead-*")]


def test_a_patch_is_made_and_a_second_run_changes_nothing(tmp_path: Path) -> None:
    module = install(tmp_path)

    first = ask("apply", [PATCH], "NO_SPARSE", paths=[tmp_path])
    written = module.stat()
    second = ask("apply", [PATCH], "NO_SPARSE", paths=[tmp_path])

    assert (first.code, first.changed, first.verdicts) == (0, [PATH], {"NO_SPARSE": "applied"})
    assert (second.code, second.changed, second.verdicts) == (0, [], {"NO_SPARSE": "applied"})
    assert module.read_text() == PATCHED
    assert (module.stat().st_ino, module.stat().st_mtime) == (written.st_ino, written.st_mtime)


def test_a_probe_writes_nothing(tmp_path: Path) -> None:
    install(tmp_path)
    before = sorted(tmp_path.rglob("*"))

    assert ask("probe", [PATCH], paths=[tmp_path]).verdicts == {"NO_SPARSE": "pending"}
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("other", "line"),
    [
        (GONE, "GONE: unknown: 'return 0' is not in Engine.stop"),
        (BROKEN, "sample/engine.py: unsafe: the patched text fails"),
    ],
)
def test_one_patch_that_cannot_be_made_keeps_all_from_being_made(
    other: dict[str, object], line: str, tmp_path: Path
) -> None:
    module = install(tmp_path)

    answer = ask("apply", [PATCH, other], "NO_SPARSE", str(other["tag"]), paths=[tmp_path])

    assert (answer.code, answer.changed) == (1, [])
    assert len(answer.errors) == 1
    assert answer.errors[0].startswith(line)
    assert module.read_text() == STOCK
    assert temporary_files(tmp_path) == []


def test_mode_and_owner_are_kept(tmp_path: Path) -> None:
    module = install(tmp_path)
    module.chmod(0o440)
    if os.geteuid() == 0:
        os.chown(module, 12345, 23456)
    before = module.stat()

    ask("apply", [PATCH], "NO_SPARSE", paths=[tmp_path])

    after = module.stat()
    assert module.read_text() == PATCHED
    assert stat.S_IMODE(after.st_mode) == 0o440
    assert (after.st_uid, after.st_gid) == (before.st_uid, before.st_gid)


def test_a_link_is_replaced_and_what_it_points_to_stays(tmp_path: Path) -> None:
    module = install(tmp_path / "site")
    target = module.rename(tmp_path / "shared.py")
    module.symlink_to(target)

    ask("apply", [PATCH], "NO_SPARSE", paths=[tmp_path / "site"])

    assert (module.is_symlink(), module.read_text()) == (False, PATCHED)
    assert target.read_text() == STOCK


def test_the_other_name_of_a_hard_link_stays(tmp_path: Path) -> None:
    module = install(tmp_path / "site")
    os.link(module, tmp_path / "cached.py")

    ask("apply", [PATCH], "NO_SPARSE", paths=[tmp_path / "site"])

    assert module.read_text() == PATCHED
    assert (tmp_path / "cached.py").read_text() == STOCK


@pytest.mark.skipif(shutil.which("uv") is None, reason="no uv on this machine")
def test_the_cache_of_uv_stays(tmp_path: Path) -> None:
    python, site = make_venv(tmp_path / "venv")
    cache = tmp_path / "cache"
    words = ["uv", "pip", "install", "--offline", "--no-index", "--link-mode", "hardlink"]
    place = ["--cache-dir", str(cache), "--python", str(python), str(wheel(tmp_path))]
    subprocess.run([*words, *place], check=True, capture_output=True)
    assert (site / PATH).stat().st_nlink == 2

    answer = ask("apply", [PATCH], "NO_SPARSE", python=python)

    (cached,) = cache.rglob("engine.py")
    assert (answer.code, (site / PATH).read_text()) == (0, PATCHED)
    assert cached.read_text() == STOCK


def test_runs_at_once_make_the_patch_once(tmp_path: Path) -> None:
    module = install(tmp_path)

    with ThreadPoolExecutor(8) as pool:
        runs = [pool.submit(ask, "apply", [PATCH], "NO_SPARSE", paths=[tmp_path]) for _ in range(8)]
    answers = [run.result() for run in runs]

    assert [answer.code for answer in answers] == [0] * 8
    assert sorted(answer.changed for answer in answers) == [[]] * 7 + [[PATH]]
    assert module.read_text() == PATCHED
    assert temporary_files(tmp_path) == []


def test_a_run_writes_nothing_while_another_one_holds_the_package(tmp_path: Path) -> None:
    module = install(tmp_path)
    request = {"action": "apply", "patches": [PATCH], "tags": ["NO_SPARSE"]}
    words = [sys.executable, *program_arguments({**request, "paths": [str(tmp_path)]})]

    with locked(tmp_path / "sample"):
        held = subprocess.run(["timeout", "3", *words], capture_output=True)
        assert (held.returncode, module.read_text()) == (124, STOCK)

    assert subprocess.run(words, capture_output=True).returncode == 0
    assert module.read_text() == PATCHED


def test_a_rewritten_file_never_has_the_second_it_had(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    seconds = []

    for text in (b"x = 1\n", b"x = 2\n", b"x = 3\n"):
        replace(module, text)
        seconds.append(int(module.stat().st_mtime))

    assert len(set(seconds)) == 3


@pytest.mark.parametrize("call", range(1, 8))
def test_a_kill_at_any_moment_leaves_a_whole_file_that_the_next_run_mends(
    call: int, tmp_path: Path
) -> None:
    module = install(tmp_path)
    request = {"action": "apply", "patches": [PATCH], "tags": ["NO_SPARSE"]}
    words = program_arguments({**request, "paths": [str(tmp_path)]})
    hook = (
        "import itertools, os, signal\n"
        "calls, sync = itertools.count(1), os.fsync\n"
        f"os.fsync = lambda fd: os.kill(os.getpid(), {int(signal.SIGKILL)})"
        f" if next(calls) == {call} else sync(fd)\n"
    )

    killed = subprocess.run(
        [sys.executable, "-c", hook + words[1], *words[2:]], capture_output=True
    )

    assert killed.returncode == (-signal.SIGKILL if call < 7 else 0)
    assert module.read_text() in (STOCK, PATCHED)
    assert ask("apply", [PATCH], "NO_SPARSE", paths=[tmp_path]).verdicts == {"NO_SPARSE": "applied"}
    assert module.read_text() == PATCHED
    assert temporary_files(tmp_path) == []


def two_files() -> dict[str, Any]:
    return patch(
        "TWO",
        files=[
            {"path": PATH, "edits": stop_patch("TWO")["files"][0]["edits"]},
            {"path": "sample/kernel.py", "content": "# TWO: ours\n"},
        ],
    )


def test_a_run_that_was_cut_short_between_two_files_is_finished(tmp_path: Path) -> None:
    install(tmp_path)
    both = two_files()
    ask("apply", [both], "TWO", paths=[tmp_path])
    (tmp_path / "sample" / "kernel.py").unlink()

    found = ask("probe", [both], paths=[tmp_path]).rows["TWO"]
    answer = ask("apply", [both], "TWO", paths=[tmp_path])

    assert (found["verdict"], found["repairable"]) == ("half-applied", True)
    assert (answer.changed, answer.verdicts) == (["sample/kernel.py"], {"TWO": "applied"})


def test_two_patches_of_the_same_line_are_refused_together(tmp_path: Path) -> None:
    module = install(tmp_path)

    answer = ask("apply", [PATCH, patch("OTHER")], "NO_SPARSE", "OTHER", paths=[tmp_path])

    assert (answer.code, answer.changed, module.read_text()) == (1, [], STOCK)
    assert answer.errors == [
        f"OTHER: unknown: another patch of {PATH} changes the same lines: nothing is written; "
        "drop one of the two"
    ]


@pytest.mark.parametrize("obstacle", ["no folder", "a folder in its place"])
def test_a_file_that_cannot_be_written_keeps_all_from_being_written(
    obstacle: str, tmp_path: Path
) -> None:
    module = install(tmp_path)
    both = two_files()
    both["files"][1]["path"] = "sample/kernels/one.py"
    if obstacle != "no folder":
        (tmp_path / "sample" / "kernels" / "one.py").mkdir(parents=True)

    answer = ask("apply", [both], "TWO", paths=[tmp_path])

    assert (answer.code, len(answer.errors), module.read_text()) == (1, 1, STOCK)
    assert temporary_files(tmp_path) == []


def test_a_file_that_a_patch_brought_goes_with_it(tmp_path: Path) -> None:
    module = install(tmp_path)
    ask("apply", [two_files()], "TWO", paths=[tmp_path])

    answer = ask("revert", [two_files()], "TWO", paths=[tmp_path])

    assert answer.changed == [PATH, "sample/kernel.py"]
    assert module.read_text() == STOCK
    assert not (tmp_path / "sample" / "kernel.py").exists()
