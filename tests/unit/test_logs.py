"""Journals of several hosts become one."""

from glmstead.commands.logs import merged


def test_lines_of_all_hosts_are_merged_by_time() -> None:
    start = 1796045574_000000
    found = {
        "head1": {
            "lines": [
                [start, "glmstead-vllm.service", "first"],
                [start + 2_500_000, "glmstead-ray-head.service", "third"],
            ],
            "error": "",
        },
        "w2": {"lines": [[start + 1_000, "glmstead-ray-worker.service", "second"]], "error": ""},
    }

    assert merged(found) == [
        "11-30 13:32:54.000 head1 vllm: first",
        "11-30 13:32:54.001 w2    ray-worker: second",
        "11-30 13:32:56.500 head1 ray-head: third",
    ]


def test_nothing_logged_is_nothing_shown() -> None:
    assert merged({"h1": {"lines": [], "error": ""}}) == []
