"""What the front door refuses before it contacts a host: exit 1 and the line, from any folder."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from glmstead.cli import COMMANDS, main
from tests.unit.conftest import Inventories

LIMITED = ("deploy", "drift")
ON_INVENTORY = (*LIMITED, "recover", "status", "logs")


def glmstead(*words: str | Path) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


def test_help_lists_every_command() -> None:
    output = glmstead("--help").output

    assert [name for name in COMMANDS if f"  {name} " not in output] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str) -> None:
    assert glmstead(command, "--help").exit_code == 0


@pytest.mark.parametrize("command", ON_INVENTORY)
def test_a_mistyped_inventory_is_refused(command: str, tmp_path: Path) -> None:
    result = glmstead(command, tmp_path / "prodution.py")

    assert result.exit_code == 1
    assert result.output.startswith(f"{tmp_path}/prodution.py: no such inventory; fix: use one of ")
    assert "inventories/g4.py" in result.output


@pytest.mark.parametrize("command", ON_INVENTORY)
def test_an_empty_inventory_is_refused(command: str, tmp_path: Path) -> None:
    path = tmp_path / "empty.py"
    path.write_text("head = []\n")
    result = glmstead(command, path)

    assert result.exit_code == 1
    assert result.output == (
        f"{path}: no host in it; fix: list hosts in head, worker and gateway\n"
    )


@pytest.mark.parametrize("command", LIMITED)
def test_a_limit_that_matches_nobody_is_refused(command: str, inventory_file: Inventories) -> None:
    result = glmstead(command, inventory_file(), "--limit", "h3")

    assert result.exit_code == 1
    assert result.output == (
        "--limit h3: matches no host; fix: use a host (@fake/h1, @fake/h2) "
        "or group (fleet, gateway, head, lab, worker)\n"
    )


def test_a_report_in_no_folder_is_refused_before_the_hosts_are_asked(
    inventory_file: Inventories,
) -> None:
    result = glmstead("drift", inventory_file(), "--json", "/nonexistent/report.json")

    assert (result.exit_code, result.output) == (
        1,
        "--json /nonexistent/report.json: no such folder; fix: make it, or name another\n",
    )


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("head = [\n", "SyntaxError: '[' was never closed (broken.py, line 1)"),
        ("import os\nx = 1 / 0\n", "ZeroDivisionError: division by zero (broken.py, line 2)"),
    ],
)
def test_an_inventory_that_is_no_python_is_refused_in_one_line(
    text: str, line: str, tmp_path: Path
) -> None:
    path = tmp_path / "broken.py"
    path.write_text(text)
    result = glmstead("deploy", path)

    assert result.exit_code == 1
    assert result.output == f"{path}: {line}\n"


def test_settings_are_refused_as_lines_and_nothing_else(inventory_file: Inventories) -> None:
    result = glmstead("deploy", inventory_file(hosts=1, data={"vllm_prot": 8000}))

    assert result.exit_code == 1
    assert result.output == (
        "@fake/h1: vllm_prot: 8000: unknown setting; fix: did you mean vllm_port?\n"
    )


def test_the_placeholders_of_the_example_are_refused() -> None:
    from glmstead import ROOT

    result = glmstead("deploy", ROOT / "inventories" / "g4.py")

    assert result.exit_code == 1
    assert result.output == (
        f"192.0.2.11: 192.0.2.11 is a placeholder; fix: edit {ROOT}/inventories/g4.py\n"
    )


def test_group_data_is_found_from_another_folder(
    inventory_file: Inventories, tmp_path: Path
) -> None:
    inventory_file(hosts=1, data={"vllm_prot": 1})
    (tmp_path / "elsewhere").mkdir()
    door = Path(sys.executable).with_name("glmstead")
    run = subprocess.run(
        [door, "deploy", "../fleet.py"],
        cwd=tmp_path / "elsewhere",
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (run.returncode, run.stderr) == (
        1,
        "@fake/h1: vllm_prot: 1: unknown setting; fix: did you mean vllm_port?\n",
    )
