"""Where environments keep a package, which Pythons can be asked, and what bytecode remains."""

import importlib.util
import os
import py_compile
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.interpreters import MINORS, interpreter
from tests.patch_samples import PATCHED, PATH, STOCK, ask, install, make_venv, patch

PATCH = patch()


@pytest.mark.parametrize("minor", MINORS)
def test_every_python_that_serves_can_be_asked(minor: str, tmp_path: Path) -> None:
    module = install(tmp_path)

    answer = ask("apply", [PATCH], "NO_SPARSE", python=interpreter(minor), paths=[tmp_path])

    assert (answer.code, answer.errors, answer.verdicts) == (0, [], {"NO_SPARSE": "applied"})
    assert answer.document["python"].startswith(f"{minor}.")
    assert module.read_text() == PATCHED


def test_a_virtual_environment(tmp_path: Path) -> None:
    python, site = make_venv(tmp_path / "venv")
    module = install(site)

    row = ask("apply", [PATCH], "NO_SPARSE", python=python).rows["NO_SPARSE"]

    assert (row["package"], row["release"], row["file"]) == ("sample-cpu", "1.2.0", PATH)
    assert row["files"][0]["path"] == str(module)
    assert row["files"][0]["stock"] is True
    assert module.read_text() == PATCHED


def test_a_package_outside_the_virtual_environment(tmp_path: Path) -> None:
    python, _ = make_venv(tmp_path / "venv", "--system-site-packages")
    environment = {**os.environ, "PYTHONUSERBASE": str(tmp_path / "outside")}
    where = [str(python), "-c", "import site; print(site.getusersitepackages())"]
    site = subprocess.run(where, env=environment, capture_output=True, text=True).stdout.strip()
    module = install(Path(site))

    answer = ask("apply", [PATCH], "NO_SPARSE", python=python, environment=environment)

    assert answer.verdicts == {"NO_SPARSE": "applied"}
    assert module.read_text() == PATCHED


def test_an_editable_install(tmp_path: Path) -> None:
    python, site = make_venv(tmp_path / "venv")
    install(site)
    (tmp_path / "checkout").mkdir()
    (site / "sample").rename(tmp_path / "checkout" / "sample")
    (site / "sample.pth").write_text(f"{tmp_path / 'checkout'}\n")

    made = ask("apply", [PATCH], "NO_SPARSE", python=python)
    undone = ask("revert", [PATCH], "NO_SPARSE", python=python)

    assert made.verdicts == {"NO_SPARSE": "applied"}
    assert made.rows["NO_SPARSE"]["release"] == "1.2.0"
    assert undone.verdicts == {"NO_SPARSE": "pending"}
    assert (tmp_path / "checkout" / PATH).read_text() == STOCK


def test_a_folder_of_that_name_is_no_package(tmp_path: Path) -> None:
    python, site = make_venv(tmp_path / "venv")
    (site / "sample").mkdir()

    row = ask("probe", [PATCH], python=python).rows["NO_SPARSE"]

    assert (row["verdict"], row["reason"]) == ("unknown", "sample is not installed here")


def test_the_current_folder_does_not_shadow_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python, site = make_venv(tmp_path / "venv")
    module = install(site)
    monkeypatch.chdir(tmp_path)
    install(tmp_path)

    assert ask("probe", [PATCH], python=python).rows["NO_SPARSE"]["files"][0]["path"] == str(module)


def sparse(python: Path) -> str:
    """What a fresh process of the environment runs: the value that the patch changes."""
    program = (
        "import sample.engine as it; engine = it.Engine()\n"
        "print(engine.start(type('Config', (), {'topk': 1})))"
    )
    run = subprocess.run([python, "-B", "-c", program], capture_output=True, text=True)
    return run.stdout.strip() or run.stderr


def test_no_stale_bytecode_within_one_second(tmp_path: Path) -> None:
    python, site = make_venv(tmp_path / "venv")
    install(site)
    (site / "sample" / "__init__.py").write_text("")
    seen = []

    for action in ("apply", "revert", "apply", "revert"):
        ask(action, [PATCH], "NO_SPARSE", python=python)
        seen.append(sparse(python))

    assert seen == ["False", "True", "False", "True"]


def test_bytecode_that_never_checks_its_source_is_replaced(tmp_path: Path) -> None:
    python, site = make_venv(tmp_path / "venv")
    module = install(site)
    (site / "sample" / "__init__.py").write_text("")
    unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
    cached = Path(str(py_compile.compile(str(module), invalidation_mode=unchecked)))
    other = cached.with_name("engine.cpython-399.opt-1.pyc")
    shutil.copy(cached, other)

    ask("apply", [PATCH], "NO_SPARSE", python=python)

    assert sparse(python) == "False"
    assert not other.exists()
    assert cached == Path(importlib.util.cache_from_source(str(module)))
    assert cached.stat().st_mode & 0o444 == 0o444, "services run as another user"
