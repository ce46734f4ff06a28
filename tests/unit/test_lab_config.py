"""Names, addresses and the record of a lab."""

from pathlib import Path

import pytest

from glmstead.lab.config import LabConfig, LabError
from glmstead.lab.lock import locked
from glmstead.lab.state import (
    LabHost,
    lab_from_json,
    lab_to_json,
    planned_lab,
    read_lab,
    write_lab,
)


def test_all_names_derive_from_the_labs_name() -> None:
    config = LabConfig.from_environment({"GLMSTEAD_LAB_NAME": "two"})

    assert config.bridge == "glmtwo0"
    assert config.table == "glmstead_two"
    assert config.state == Path("/var/lib/glmstead-two")
    assert config.host_names(2) == ("two1", "two2")


def test_hosts_are_numbered_from_eleven() -> None:
    config = LabConfig()

    assert str(config.gateway) == "10.77.42.1"
    assert [str(config.address(name)) for name in ("lab1", "lab2")] == [
        "10.77.42.11",
        "10.77.42.12",
    ]


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("GLMSTEAD_LAB_NAME", "Lab-1", "use 1 to 8 lower-case letters"),
        ("GLMSTEAD_LAB_NAME", "waytoolong", "use 1 to 8 lower-case letters"),
        ("GLMSTEAD_LAB_SUBNET", "10.77.42.1/24", "use a network such as"),
        ("GLMSTEAD_LAB_SUBNET", "10.77.42.0/28", "use a /26 or larger"),
        ("GLMSTEAD_LAB_SUBNET", "home", "use a network such as"),
        ("GLMSTEAD_LAB_STATE", "lab", "use an absolute path"),
        ("GLMSTEAD_LAB_SUITE", "xenial", "use one of bookworm, trixie, jammy, noble"),
        ("GLMSTEAD_CACHE", "/a:b", "use an absolute path"),
    ],
)
def test_a_setting_that_cannot_work_is_refused_in_one_line(
    key: str, value: str, reason: str
) -> None:
    with pytest.raises(LabError) as refusal:
        LabConfig.from_environment({key: value})

    assert f"{key}={value}: " in str(refusal.value)
    assert reason in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_the_record_reads_back_as_it_was_written(tmp_path: Path) -> None:
    config = LabConfig(state=tmp_path)
    lab = planned_lab(config, count=2)

    write_lab(config, lab)

    assert lab_from_json(lab_to_json(lab)) == lab
    assert read_lab(config) == lab
    assert lab.host("lab2") == LabHost("lab2", "10.77.42.12", "host0")
    assert lab.host("lab3") is None


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"hosts": [{"nom": "lab1"}]}'])
def test_a_broken_record_is_no_lab(tmp_path: Path, text: str) -> None:
    (tmp_path / "lab.json").write_text(text)

    assert read_lab(LabConfig(state=tmp_path)) is None


def test_no_record_is_no_lab(tmp_path: Path) -> None:
    assert read_lab(LabConfig(state=tmp_path / "none")) is None


def test_the_state_is_closed_to_others_and_its_lock_is_free_afterwards(tmp_path: Path) -> None:
    config = LabConfig(state=tmp_path / "state")

    with locked(config):
        assert config.state.stat().st_mode & 0o777 == 0o700
        with pytest.raises(LabError, match=r"process \d+ is at work on this lab"), locked(config):
            pass
    with locked(config):
        pass
