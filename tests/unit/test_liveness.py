"""When an engine counts as alive, silent, hung, and when it is no longer restarted."""

from pathlib import Path

import pytest

from glmstead.watch.idle import Idle
from glmstead.watch.liveness import Limits, Liveness, Look

LIMITS = Limits(idle_ask_s=60, failures=3, compile_s=900, restarts=2, window_s=3600)


@pytest.fixture
def live() -> Liveness:
    """An engine that has just answered its first request."""
    started = Liveness(LIMITS)
    started.begin(0)
    started.moved(Look(0, 10))
    return started


def test_a_counter_that_moves_needs_no_question(live: Liveness) -> None:
    assert live.moved(Look(10, 11, unfinished=2))
    assert not live.dead()


def test_an_idle_engine_is_asked_now_and_then(live: Liveness) -> None:
    assert not live.moved(Look(59, 10)) and not live.must_ask(Look(59, 10))
    assert live.must_ask(Look(60, 10))


def test_work_that_does_not_move_is_asked_at_once(live: Liveness) -> None:
    assert not live.moved(Look(10, 10, unfinished=1))
    assert live.must_ask(Look(10, 10, unfinished=1))


def test_a_server_whose_metrics_do_not_answer_is_asked_at_once(live: Liveness) -> None:
    assert not live.moved(Look(10, None))
    assert live.must_ask(Look(10, None))


def test_three_silences_in_a_row_mean_hung(live: Liveness) -> None:
    for second in (10, 20):
        live.silent(second, compiling=False)
        assert not live.dead()
        assert live.must_ask(Look(second, 10))
    live.silent(30, compiling=False)
    assert live.dead()


def test_one_answer_between_silences_starts_the_count_again(live: Liveness) -> None:
    live.silent(10, compiling=False)
    live.silent(20, compiling=False)
    live.alive(25)
    live.silent(30, compiling=False)

    assert not live.dead()


def test_compiling_is_no_silence_for_a_while(live: Liveness) -> None:
    for second in range(0, 900, 100):
        live.silent(second, compiling=True)
    assert not live.dead()

    for second in (900, 910, 920):
        live.silent(second, compiling=True)
    assert live.dead()


def test_restarts_are_bounded_in_a_window_and_allowed_again_after_it(live: Liveness) -> None:
    assert live.may_restart(0)
    live.restarts += [0, 100]

    assert not live.may_restart(200)
    assert not live.may_restart(3599)
    assert live.may_restart(3600)


def test_a_new_start_has_a_clean_record(live: Liveness) -> None:
    live.silent(10, compiling=False)
    live.begin(20)

    assert live.failures == 0
    assert live.moved(Look(30, 1))


def test_counters_that_could_not_be_read_for_once_have_not_moved(live: Liveness) -> None:
    """A hung engine whose API server answers now and then is still found out."""
    live.moved(Look(10, 5))
    live.silent(20, compiling=False)

    assert not live.moved(Look(30, None))
    assert not live.moved(Look(40, 5))
    assert live.failures == 1


@pytest.fixture
def idle(tmp_path: Path) -> Idle:
    """Of an engine that nobody has used for long."""
    commands = {name: f"touch {tmp_path}/{name}" for name in ("stop_command", "start_command")}
    found = Idle({"folder": str(tmp_path), "after_s": 60, **commands}, "glmstead-vllm")
    found.asleep, found.started = tmp_path / "asleep", 0.0
    return found


def test_an_engine_nobody_uses_falls_asleep_and_is_woken(idle: Idle, tmp_path: Path) -> None:
    assert idle.fall_asleep(Look(10, 5))
    assert (tmp_path / "stop_command").exists() and idle.asleep.exists()
    assert not idle.wake_up()

    idle.wake.touch()
    assert idle.wake_up()
    assert (tmp_path / "start_command").exists() and not idle.asleep.exists()
    assert idle.waking.exists()


@pytest.mark.parametrize("seen", [Look(10, 5, unfinished=1), Look(10, None)], ids=["runs", "busy"])
def test_an_engine_with_work_or_too_busy_to_say_does_not_fall_asleep(
    idle: Idle, seen: Look
) -> None:
    assert not idle.fall_asleep(seen)
    assert not idle.asleep.exists()


def test_an_engine_in_use_does_not_fall_asleep(idle: Idle) -> None:
    idle.used.touch()

    assert not idle.fall_asleep(Look(10, 5))


def test_a_site_s_command_that_hangs_is_outlived(idle: Idle) -> None:
    idle.stop, idle.bound_s = "sleep 60", 0.2

    assert idle.fall_asleep(Look(10, 5))
