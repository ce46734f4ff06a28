"""The verdict on NCCL from figures: what wins, why, and what a declared value is worth."""

from typing import Any

from glmstead.nccl.candidates import DECLARED, candidates
from glmstead.nccl.stages import merged
from glmstead.nccl.verdict import verdict

OFF, SYS = {"NCCL_P2P_DISABLE": "1"}, {"NCCL_P2P_LEVEL": "SYS"}
OWN = "NCCL's own choice"


def ok(name: str, env: dict[str, str], bandwidth: float, latency: float) -> dict[str, Any]:
    figures = {"busbw_gb_s": bandwidth, "latency_us": latency}
    return {"name": name, "env": env, "status": "ok", "error": "", **figures}


def hung(name: str, env: dict[str, str]) -> dict[str, Any]:
    nothing = {"busbw_gb_s": None, "latency_us": None}
    return {"name": name, "env": env, "status": "hung", "error": "no end within 90 s", **nothing}


def stage(*rows: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in rows}


def test_the_fabric_of_g4_keeps_p2p() -> None:
    found = verdict(
        {
            "2 GPUs": stage(
                ok(OWN, {}, 21.0, 30),
                ok("P2P over every link", SYS, 40.1, 18),
                ok("P2P off", OFF, 17, 40),
            )
        }
    )

    assert (found.name, found.env) == ("P2P over every link", SYS)
    assert found.reason == "40.1 GB/s and 18 us on 2 GPUs"


def test_D1_D2_boards_that_hang_in_p2p_get_it_switched_off_with_the_reason() -> None:
    found = verdict(
        {
            "2 GPUs": stage(
                hung(OWN, {}), hung("P2P over every link", SYS), ok("P2P off", OFF, 17, 40)
            ),
            "all GPUs of a host": stage(ok("P2P off", OFF, 15.5, 61)),
        }
    )

    assert (found.name, found.env) == ("P2P off", OFF)
    assert found.reason == (
        "15.5 GB/s and 61 us on all GPUs of a host; NCCL's own choice hung on 2 GPUs (no end "
        "within 90 s); P2P over every link hung on 2 GPUs (no end within 90 s)"
    )


def test_D5_a_wrong_sum_loses_whatever_its_bandwidth() -> None:
    corrupt = {
        **ok("P2P over every link", SYS, 99.0, 1),
        "status": "wrong",
        "error": "a sum is wrong",
    }

    assert verdict({"2 GPUs": stage(ok("P2P off", OFF, 17, 40), corrupt)}).env == OFF


def test_figures_alike_leave_the_choice_to_nccl() -> None:
    found = verdict(
        {"2 GPUs": stage(ok(OWN, {}, 40.0, 18.4), ok("P2P over every link", SYS, 40.9, 18))}
    )

    assert (found.name, found.env) == (OWN, {})


def test_among_equal_bandwidths_the_least_latency_wins() -> None:
    found = verdict(
        {"2 GPUs": stage(ok(OWN, {}, 40.0, 60), ok("P2P over every link", SYS, 39.5, 18))}
    )

    assert found.env == SYS


def test_a_declared_value_is_compared() -> None:
    declared = {"NCCL_P2P_DISABLE": "1"}
    rows = [ok("P2P over every link", SYS, 40.0, 18)]

    slower = verdict({"2 GPUs": stage(*rows, ok(DECLARED, declared, 16.0, 41))})
    alike = verdict({"2 GPUs": stage(*rows, ok(DECLARED, declared, 39.0, 18))})
    broken = verdict({"2 GPUs": stage(*rows, hung(DECLARED, declared))})

    assert slower.declared == "nccl_env is 60% slower: 16 GB/s and 41 us"
    assert alike.declared == "nccl_env is as good: 39 GB/s and 18 us"
    assert broken.declared == (
        "nccl_env does not work: declared (nccl_env) hung on 2 GPUs (no end within 90 s); remove it"
    )
    assert verdict({"2 GPUs": stage(*rows)}).declared == ""


def test_nothing_that_works_is_no_verdict() -> None:
    found = verdict({"2 GPUs": stage(hung(OWN, {}), hung("P2P off", OFF))})

    assert found.name is None
    assert found.reason.startswith("nothing works: NCCL's own choice hung on 2 GPUs")


def test_one_host_that_fails_fails_the_candidate_for_all() -> None:
    good, bad = {"results": [ok(OWN, {}, 40, 18)]}, {"results": [hung(OWN, {})]}

    assert merged({"2 GPUs": [good, bad]})["2 GPUs"][OWN]["status"] == "hung"
    assert merged({"2 GPUs": [bad, good]})["2 GPUs"][OWN]["status"] == "hung"


def test_what_a_route_declares_is_one_candidate_more() -> None:
    assert [one["name"] for one in candidates({})] == [
        "NCCL's own choice",
        "P2P over every link",
        "P2P over every link, 8 channels",
        "P2P off",
        "P2P off, 16 channels",
    ]
    assert candidates({"NCCL_P2P_LEVEL": "PXB"})[-1] == {
        "name": "declared (nccl_env)",
        "env": {"NCCL_P2P_LEVEL": "PXB"},
    }
