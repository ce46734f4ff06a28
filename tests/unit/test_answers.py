"""How an answer is put together from either format, and what is wrong with one."""

import json
from typing import Any

import pytest

from glmstead.answers.ask import Answer, data_of
from glmstead.answers.questions import (
    CHAT,
    MESSAGES,
    PRODUCT,
    READY,
    THINKING,
    WEATHER,
    asks,
    judge,
    loops,
    passphrase,
    quick,
)

PARIS = [{"name": "get_weather", "arguments": {"city": "Paris"}}]


def row(text: str = "", **changes: Any) -> dict[str, Any]:
    rest: dict[str, Any] = {"reasoning": "", "calls": [], "finish": "stop", "error": None}
    return {"text": text, **rest, **changes}


def streamed(lines: list[str]) -> dict[str, Any]:
    answer = Answer()
    for line in lines:
        answer.event(data_of(line) or {})
    return answer.closed()


def test_a_chat_stream_is_put_together_with_its_call_and_usage() -> None:
    call = {"index": 0, "id": "c", "function": {"name": "get_weather", "arguments": '{"city": '}}
    rest = {"index": 0, "function": {"arguments": '"Paris"}'}}
    found = streamed(
        [
            "data: " + json.dumps({"choices": [{"delta": {"reasoning_content": "A tool."}}]}),
            "",
            "data: " + json.dumps({"choices": [{"delta": {"tool_calls": [call]}}]}),
            "data: "
            + json.dumps({"choices": [{"delta": {"tool_calls": [rest]}, "finish_reason": "stop"}]}),
            "data: " + json.dumps({"choices": [], "usage": {"prompt_tokens": 9}}),
            "data: [DONE]",
        ]
    )

    assert found["reasoning"] == "A tool."
    assert found["calls"] == PARIS
    assert found["finish"] == "stop"
    assert found["usage"] == {"prompt_tokens": 9}


def test_a_messages_stream_is_put_together_with_its_call_and_usage() -> None:
    use = {"type": "tool_use", "id": "t", "name": "get_weather", "input": {}}
    piece = {"type": "input_json_delta", "partial_json": '{"city": "Paris"}'}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"usage": {"input_tokens": 192, "output_tokens": 0}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "text_delta", "text": "Well. "},
        },
        {"type": "content_block_start", "index": 1, "content_block": use},
        {"type": "content_block_delta", "index": 1, "delta": piece},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "tool_use"},
            "usage": {"output_tokens": 5},
        },
    ]
    found = streamed([f"data: {json.dumps(event)}" for event in events])

    assert (found["text"], found["calls"], found["finish"]) == ("Well. ", PARIS, "tool_use")
    assert found["usage"] == {"prompt_tokens": 192, "completion_tokens": 5}


def test_an_error_in_a_stream_is_an_error() -> None:
    with pytest.raises(ValueError, match="overloaded"):
        streamed(['data: {"type": "error", "error": {"message": "overloaded"}}'])


def test_whole_answers_of_both_formats_read_the_same() -> None:
    chat = {
        "choices": [{"message": {"content": "READY", "tool_calls": None}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 4},
    }
    messages = {
        "content": [{"type": "text", "text": "READY"}],
        "stop_reason": "stop",
        "usage": {"input_tokens": 11, "output_tokens": 4},
    }

    assert Answer().whole(chat) == Answer().whole(messages)


@pytest.mark.parametrize(
    ("question", "found", "why"),
    [
        (READY, row("READY"), None),
        (READY, row("READY."), "expected 'READY', got 'READY.'"),
        (PRODUCT, row("17 multiplied by 24 is 408."), None),
        (PRODUCT, row("407"), "expected '408', got '407'"),
        (PRODUCT, row("408 " + "France " * 6), "loops: '408 France France France"),
        (PRODUCT, row("408", finish="length"), "cut off by max_tokens, with 3 characters"),
        (PRODUCT, row("</think>408"), "tags in the text, a parser is missing or wrong"),
        (PRODUCT, row("408", reasoning="Well"), "reasoning, although thinking is off: 'Well'"),
        (THINKING, row("READY"), "no reasoning, although thinking is on"),
        (THINKING, row("READY", reasoning="Exact."), None),
        (WEATHER, row(calls=PARIS), None),
        (WEATHER, row("It is sunny"), "expected a call of get_weather for Paris, got 'It is"),
        (READY, row(calls=PARIS), "expected 'READY', got a tool call"),
        (READY, row(error="HTTP 503: no"), "HTTP 503: no"),
    ],
)
def test_an_answer_is_judged(question: Any, found: dict[str, Any], why: str | None) -> None:
    verdict = question.verdict(found)

    assert verdict == why if why is None else verdict.startswith(why)


@pytest.mark.parametrize(
    ("text", "looping"),
    [
        ("France " * 6, True),
        ("France " * 5, False),
        ("the sea the sea the sea the sea the sea the sea", True),
        ("one two three four five six seven", False),
        ("", False),
    ],
)
def test_a_loop_is_one_to_three_words_six_times(text: str, looping: bool) -> None:
    assert loops(text) is looping


def test_quick_asks_both_formats_plain_and_streamed() -> None:
    asked = quick(12, tools=True, thinking=True)
    names = [one["name"] for one in asks(asked, "glm-5.2")]

    assert names == [
        f"ready {CHAT}",
        f"ready {CHAT} streamed",
        f"ready {MESSAGES}",
        f"ready {MESSAGES} streamed",
        f"product {CHAT}",
        f"sum {MESSAGES}",
        f"passphrase {MESSAGES}",
        f"weather {CHAT}",
        f"weather {MESSAGES} streamed",
        f"thinking {CHAT}",
    ]
    assert asks(asked, "glm-5.2")[-1]["body"]["model"] == "glm-5.2-thinking"


def test_what_the_engine_has_no_parser_for_is_not_asked() -> None:
    asked = quick(12, tools=False, thinking=False)

    assert {one[0].name for one in asked} == {"ready", "product", "sum", "passphrase"}


def test_only_wrong_answers_make_a_line() -> None:
    asked = [(READY, CHAT, False), (PRODUCT, CHAT, False)]
    rows = [{**row("READY"), "name": "ready"}, {**row("no"), "name": "product"}]

    assert judge(asked, rows) == ["product: expected '408', got 'no'"]


def test_the_passphrase_stands_two_thirds_down() -> None:
    lines = passphrase(12).text.splitlines()

    assert lines.index("The passphrase is BLUE-WALRUS-7421-OMEGA.") == 8
    assert lines[-1] == "What is the passphrase?"
