"""What happens to patched files over time: reinstalls, newer texts of a patch, edits by hand."""

from pathlib import Path
from typing import Any

from tests.patch_samples import PATCHED, PATH, STOCK, Answer, ask, install, patch, stop_patch

PATCH = patch()
NEWER = patch(
    files=[
        {
            "path": PATH,
            "edits": [
                {
                    "within": ["Engine.start"],
                    "find": 'self.sparse = hasattr(config, "topk")\n',
                    "put": "self.sparse = bool(0)  # NO_SPARSE: a better text\n",
                }
            ],
        }
    ]
)


def run(folder: Path, action: str, *patches: dict[str, Any]) -> Answer:
    return ask(action, list(patches), *(one["tag"] for one in patches), paths=[folder])


def test_a_reinstalled_file_is_patched_again(tmp_path: Path) -> None:
    module = install(tmp_path)
    run(tmp_path, "apply", PATCH)
    install(tmp_path)

    assert run(tmp_path, "probe", PATCH).verdicts == {"NO_SPARSE": "pending"}
    assert run(tmp_path, "apply", PATCH).changed == [PATH]
    assert module.read_text() == PATCHED


def test_an_older_text_of_ours_is_renewed_and_can_still_be_undone(tmp_path: Path) -> None:
    module = install(tmp_path)
    run(tmp_path, "apply", PATCH, stop_patch())

    found = ask("probe", [NEWER, stop_patch()], paths=[tmp_path]).rows
    made = ask("apply", [NEWER, stop_patch()], "NO_SPARSE", paths=[tmp_path])

    assert found["NO_SPARSE"]["verdict"] == "pending"
    assert found["NO_SPARSE"]["reason"] == "an older text of this patch, ours: apply renews it"
    assert made.verdicts == {"NO_SPARSE": "applied", "CLEAN_STOP": "applied"}
    assert "bool(0)  # NO_SPARSE" in module.read_text()
    assert "# CLEAN_STOP" in module.read_text()

    run(tmp_path, "revert", NEWER, stop_patch())
    assert module.read_text() == STOCK


def test_an_older_text_of_ours_can_be_undone(tmp_path: Path) -> None:
    module = install(tmp_path)
    run(tmp_path, "apply", PATCH)

    answer = run(tmp_path, "revert", NEWER)

    assert (answer.code, answer.changed) == (0, [PATH])
    assert module.read_text() == STOCK


def test_a_patched_file_that_was_edited_by_hand_is_refused_both_ways(tmp_path: Path) -> None:
    module = install(tmp_path)
    run(tmp_path, "apply", PATCH)
    edited = PATCHED.replace("= False", "= 0")
    module.write_text(edited)

    for action in ("apply", "revert"):
        answer = run(tmp_path, action, PATCH)
        assert (answer.code, answer.changed) == (1, [])
        assert answer.verdicts == {"NO_SPARSE": "drifted"}
        assert answer.errors == [
            "NO_SPARSE: drifted: sample/engine.py carries the tag, but "
            "'self.sparse = hasattr(config, \"topk\")' is not in Engine.start: "
            "reinstall the wheel, then apply again"
        ]
        assert module.read_text() == edited


def test_edits_by_hand_elsewhere_survive_a_patch_and_its_undoing(tmp_path: Path) -> None:
    edited = STOCK + "\nEXTRA = 1\n"
    module = install(tmp_path, edited)

    row = run(tmp_path, "apply", PATCH).rows["NO_SPARSE"]
    assert (row["verdict"], row["files"][0]["stock"]) == ("applied", False)
    assert module.read_text() == PATCHED + "\nEXTRA = 1\n"

    run(tmp_path, "revert", PATCH)
    assert module.read_text() == edited


def test_a_damaged_store_is_not_believed(tmp_path: Path) -> None:
    module = install(tmp_path)
    run(tmp_path, "apply", PATCH)
    (stock,) = (tmp_path / ".glmstead" / "patches" / "stock").iterdir()
    stock.write_text("something else\n")

    assert run(tmp_path, "apply", NEWER).verdicts == {"NO_SPARSE": "drifted"}
    assert module.read_text() == PATCHED


def test_undoing_twice_is_no_error(tmp_path: Path) -> None:
    module = install(tmp_path)
    run(tmp_path, "apply", PATCH)

    assert [run(tmp_path, "revert", PATCH).changed for _ in range(2)] == [[PATH], []]
    assert module.read_text() == STOCK


def test_another_release_outside_the_window_is_left_alone(tmp_path: Path) -> None:
    module = install(tmp_path, release="2.0.0")

    answer = run(tmp_path, "apply", PATCH)

    assert answer.errors == ["NO_SPARSE: unknown: made for sample-cpu >=1,<2: nothing is touched"]
    assert module.read_text() == STOCK
