"""The gateway's half of scale to zero: who wakes the engine, how long a client waits."""

import asyncio
import time
from pathlib import Path

import pytest

from glmstead.gateway.serve import sleep
from glmstead.gateway.sleep import Sleep

KEY = {b"authorization": b"Bearer sk-1"}


def woken(folder: Path, headers: dict[bytes, bytes], opens_after_s: float = 0.3) -> bool:
    opens = time.monotonic() + opens_after_s
    front = Sleep(folder, wait_s=1, key="sk-1", asleep=folder / "asleep")
    return asyncio.run(front.woken(headers, lambda: time.monotonic() > opens))


@pytest.fixture
def sleeping(tmp_path: Path) -> Path:
    (tmp_path / "asleep").touch()
    return tmp_path


@pytest.mark.parametrize("headers", [KEY, {b"x-api-key": b"sk-1"}, {b"api-key": b"sk-1"}])
def test_a_client_wakes_the_engine_and_waits(sleeping: Path, headers: dict[bytes, bytes]) -> None:
    assert woken(sleeping, headers)
    assert (sleeping / "wake").exists()


def test_a_client_of_an_engine_that_wakes_up_waits_too(tmp_path: Path) -> None:
    (tmp_path / "waking").touch()

    assert woken(tmp_path, KEY)
    assert not (tmp_path / "waking").exists()


def test_at_a_gate_closed_for_another_reason_nobody_waits(tmp_path: Path) -> None:
    started = time.monotonic()

    assert not woken(tmp_path, KEY, opens_after_s=60)
    assert time.monotonic() - started < 0.5
    assert not (tmp_path / "wake").exists()


def test_a_client_does_not_wait_longer_than_declared(sleeping: Path) -> None:
    started = time.monotonic()

    assert not woken(sleeping, KEY, opens_after_s=60)
    assert time.monotonic() - started < 3


@pytest.mark.parametrize(
    "headers", [{}, {b"authorization": b"Bearer sk-2"}, {**KEY, b"x-glmstead-watch": b"1"}]
)
def test_strangers_and_the_watch_wake_nobody(sleeping: Path, headers: dict[bytes, bytes]) -> None:
    assert not woken(sleeping, headers)
    assert not (sleeping / "wake").exists()


def test_use_is_noted_but_not_the_watch_s(tmp_path: Path) -> None:
    Sleep(tmp_path, 1, "sk-1").used({b"x-glmstead-watch": b"1"})
    assert not (tmp_path / "used").exists()

    Sleep(tmp_path, 1, "sk-1").used(KEY)
    assert (tmp_path / "used").exists()


def test_without_the_setting_nothing_sleeps() -> None:
    awake = sleep('{"gate": "/run/gate", "sleep": null}', "sk-1")
    awake.used(KEY)

    assert not asyncio.run(awake.woken(KEY, lambda: True))
