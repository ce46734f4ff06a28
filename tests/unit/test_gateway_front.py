"""What the gateway does before LiteLLM: rules for clients, and the gate."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from glmstead.gateway.app import Front, Gate, Receive, Scope, Send
from glmstead.gateway.rules import BadRequest, Limits, applied
from glmstead.gateway.serve import front

MESSAGES, CHAT = "/v1/messages", "/v1/chat/completions"
IMAGE = {"type": "image", "source": {"type": "base64", "data": "x"}}


def asked(**changes: Any) -> dict[str, Any]:
    return {"model": "glm-5.2", "messages": [{"role": "user", "content": "Hello"}], **changes}


@pytest.mark.parametrize(
    ("body", "limits", "kept"),
    [
        (asked(max_tokens=32_000), Limits(max_tokens=1024), {"max_tokens": 1024}),
        (asked(max_completion_tokens=32_000), Limits(1024), {"max_completion_tokens": 1024}),
        (asked(max_tokens=64), Limits(1024, 1024), {"max_tokens": 64}),
        (asked(max_tokens=32_000), Limits(None), {"max_tokens": 32_000}),
        (asked(), Limits(max_tokens=1024), {}),
        (asked(model="glm-5.2-thinking", max_tokens=64), Limits(None, 1024), {"max_tokens": 1024}),
        (asked(model="glm-5.2-thinking", max_tokens=64), Limits(512, 1024), {"max_tokens": 512}),
    ],
)
def test_token_limits_are_brought_inside_ours(
    body: dict[str, Any], limits: Limits, kept: dict[str, int]
) -> None:
    changed = applied(CHAT, body, limits)

    assert {name: value for name, value in changed.items() if "tokens" in name} == kept


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (asked(messages=[]), "messages is empty: send at least one message"),
        (
            asked(tools=[{"type": "web_search_20250305", "name": "web_search"}]),
            "the tool type web_search_20250305 runs on Anthropic's servers and is not served here: "
            "turn it off in the client, or declare a tool with an input_schema",
        ),
        (
            asked(mcp_servers=[{"url": "https://x"}]),
            "mcp_servers is not served here: the client has to run its tools itself",
        ),
        (
            asked(messages=[{"role": "user", "content": [IMAGE]}]),
            "images are not served: this model reads text; send text",
        ),
        (
            asked(
                messages=[
                    {"role": "user", "content": [{"type": "tool_result", "content": [IMAGE]}]}
                ]
            ),
            "images are not served: this model reads text; send text",
        ),
        (
            asked(messages=[{"role": "user", "content": [{"type": "document"}]}]),
            "documents are not served: this model reads text; send text",
        ),
        (
            {"input": [{"role": "user", "content": [{"type": "input_image"}]}]} | asked(),
            "images are not served: this model reads text; send text",
        ),
        (asked(messages=5), "messages is no list of objects: send one, or leave it out"),
        (asked(messages=[None]), "messages is no list of objects: send one, or leave it out"),
        (asked(tools={"name": 1}), "tools is no list of objects: send one, or leave it out"),
        (
            asked(messages=[{"content": "x"}]),
            "a message has no role: send user, assistant or system",
        ),
        (
            asked(messages=[{"role": "user", "content": [None]}]),
            "content is no list of objects: send one, or leave it out",
        ),
        (
            asked(messages=[{"role": "user", "content": [{"type": "text", "text": None}]}]),
            'a block has no type, or a text that is none: send {"type": "text"...',
        ),
        (
            asked(messages=[{"role": "user", "content": [{}]}]),
            'a block has no type, or a text that is none: send {"type": "text"...',
        ),
        (
            asked(messages=[{"role": "user", "content": 7}]),
            "the content of a message is neither text nor a list: send one of them",
        ),
        (
            asked(messages=[{"role": "assistant", "tool_calls": 5}]),
            "tool_calls is no list of objects: send one, or leave it out",
        ),
        (asked(stream="yes"), "stream is neither true nor false: send one of them"),
        (asked(tool_choice="auto"), "tool_choice is no object: send one, or leave it out"),
        (asked(response_format="x"), "response_format is no object: send one, or leave it out"),
        (asked(api_base="http://x"), "api_base is a setting of the gateway: leave it out"),
        (asked(timeout=0.001), "timeout is a setting of the gateway: leave it out"),
        (asked(tools=["Read"]), "tools is no list of objects: send one, or leave it out"),
    ],
)
def test_what_this_model_cannot_do_is_told(body: dict[str, Any], said: str) -> None:
    with pytest.raises(BadRequest) as refusal:
        applied(MESSAGES, body, Limits())

    assert str(refusal.value) == said


@pytest.mark.parametrize(
    "body",
    [
        asked(tools=[{"name": "Read", "input_schema": {}}]),
        asked(tools=[{"type": "function", "function": {"name": "Read"}}]),
        asked(messages=[{"role": "system", "content": "Be brief."}, {"role": "user"}]),
        asked(output_config={"effort": "xhigh"}, thinking={"type": "adaptive"}),
        asked(messages=[{"role": "a", "content": None}, {"role": "b", "content": [{"type": "x"}]}]),
    ],
)
def test_the_rest_goes_through_as_it_came(body: dict[str, Any]) -> None:
    assert applied(MESSAGES, body, Limits(max_tokens=1024)) == body


class LiteLlm:
    """An application that tells what reached it."""

    def __init__(self) -> None:
        self.bodies: list[Any] = []
        self.messages: list[dict[str, Any]] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            message = await receive()
            self.bodies.append(message["body"])
            length = dict(scope["headers"]).get(b"content-length")
            assert length in (None, str(len(message["body"])).encode())
            self.messages.append(await receive())
        await send({"type": "http.response.start", "status": 200, "headers": []})


def sent_to(
    gate: Path | None,
    body: Any,
    path: str = MESSAGES,
    headers: list[tuple[bytes, bytes]] | None = None,
    key: bool = True,
    method: str = "POST",
) -> tuple[LiteLlm, int, dict[bytes, bytes], dict[str, Any]]:
    """One request through the front, in two pieces, by a client that then leaves."""
    application = LiteLlm()
    answers: list[dict[str, Any]] = []
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    pieces: list[dict[str, Any]] = [
        {"type": "http.request", "body": content[:5], "more_body": True},
        {"type": "http.request", "body": content[5:], "more_body": False},
        {"type": "http.disconnect"},
    ]

    async def receive() -> dict[str, Any]:
        return pieces.pop(0)

    async def send(message: dict[str, Any]) -> None:
        answers.append(message)

    shown = [*(headers or []), *([(b"x-api-key", b"sk-1")] if key else [])]
    scope = {"type": "http", "method": method, "path": path, "headers": shown}
    asyncio.run(Front(application, Limits(max_tokens=1024), Gate(gate))(scope, receive, send))
    told = json.loads(answers[1]["body"]) if len(answers) > 1 else {}
    return application, answers[0]["status"], dict(answers[0]["headers"]), told


def test_a_request_reaches_litellm_changed_and_so_does_the_client_that_leaves() -> None:
    application, status, _, _ = sent_to(None, asked(max_tokens=32_000))

    assert status == 200
    assert json.loads(application.bodies[0])["max_tokens"] == 1024
    assert application.messages == [{"type": "http.disconnect"}]


def test_a_request_without_a_key_is_refused_before_litellm() -> None:
    application, status, _, told = sent_to(None, asked(), key=False)

    assert (status, application.bodies) == (401, [])
    assert told["error"]["type"] == "authentication_error"


def test_what_is_no_json_is_left_to_litellm() -> None:
    application, status, _, _ = sent_to(None, b"{nonsense")

    assert (status, application.bodies) == (200, [b"{nonsense"])


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        ("/v1/responses", {"input": 5}, "input is neither text nor a list: send one of them"),
        ("/v1/completions", {"model": "glm-5.2"}, "prompt is empty: send a text"),
    ],
)
def test_the_other_formats_say_what_they_lack(path: str, body: dict[str, Any], said: str) -> None:
    with pytest.raises(BadRequest) as refusal:
        applied(path, body, Limits())

    assert str(refusal.value) == said


@pytest.mark.parametrize("value", [b"", b"sk-1", b"Bearer", b"Bearer "])
def test_an_authorization_that_shows_no_key_is_refused_before_litellm(value: bytes) -> None:
    shown = [(b"authorization", value)]
    application, status, _, _ = sent_to(None, asked(), headers=shown, key=False)

    assert (status, application.bodies) == (401, [])
    assert sent_to(None, asked(), headers=[(b"authorization", b"Bearer k")], key=False)[1] == 200


@pytest.mark.parametrize("body", [b"null", b"[]", b'"x"', b"5"])
def test_json_that_is_no_object_is_refused(body: bytes) -> None:
    application, status, _, told = sent_to(None, body)

    assert (status, application.bodies) == (400, [])
    assert told["error"]["message"] == "the JSON is no object: send {...}"


def test_openai_s_words_for_a_tool_choice_pass() -> None:
    assert applied(CHAT, asked(tool_choice="auto"), Limits()) == asked(tool_choice="auto")


def test_json_that_nests_without_end_is_refused() -> None:
    application, status, _, told = sent_to(None, b"[" * 100_000)

    assert (status, application.bodies) == (400, [])
    assert told["error"]["message"] == "the JSON is nested too deep: send plain messages"


def test_a_request_that_is_too_large_is_refused_before_litellm() -> None:
    application, status, _, told = sent_to(None, b" " * (32 * 2**20 + 1))

    assert (status, application.bodies) == (413, [])
    assert told["error"]["message"] == "the request is larger than 32 MiB: send less"
    assert sent_to(None, b" " * 32 * 2**20)[1] == 200


def test_a_refusal_has_the_form_of_the_wire_format() -> None:
    error = {
        "type": "invalid_request_error",
        "message": "messages is empty: send at least one message",
    }

    _, status, _, anthropic = sent_to(None, asked(messages=[]))
    assert (status, anthropic) == (400, {"type": "error", "error": error})
    _, status, _, openai = sent_to(None, asked(messages=[]), CHAT)
    assert (status, openai) == (400, {"error": {**error, "param": None, "code": "400"}})


def test_a_closed_gate_says_503_and_when_to_come_back(tmp_path: Path) -> None:
    application, status, headers, told = sent_to(tmp_path, asked())

    assert (status, headers[b"retry-after"], application.bodies) == (503, b"10", [])
    assert told["error"]["type"] == "overloaded_error"


def test_an_open_gate_lets_people_in(tmp_path: Path) -> None:
    (tmp_path / "open").touch()

    assert sent_to(tmp_path, asked())[1] == 200


def test_only_the_right_token_passes_a_closed_gate(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("right")

    assert sent_to(tmp_path, asked(), headers=[(b"x-glmstead-gate", b"right")])[1] == 200
    assert sent_to(tmp_path, asked(), headers=[(b"x-glmstead-gate", b"wrong")])[1] == 503
    assert sent_to(tmp_path, asked(), headers=[(b"x-glmstead-gate", b"")])[1] == 503
    (tmp_path / "token").write_text("")
    assert sent_to(tmp_path, asked(), headers=[(b"x-glmstead-gate", b"")])[1] == 503


def test_what_only_reads_passes_a_closed_gate(tmp_path: Path) -> None:
    assert sent_to(tmp_path, {}, "/v1/models", method="GET")[1] == 200


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/key/generate"),
        ("POST", "/v1/threads/t/messages"),
        ("POST", "/v1beta/models/glm-5.2:generateContent"),
        ("DELETE", "/v1/responses/r"),
    ],
)
def test_what_is_not_served_is_404_and_never_litellm_s_500(method: str, path: str) -> None:
    application, status, _, told = sent_to(None, {"key": 1}, path, method=method)

    assert (status, application.bodies) == (404, [])
    assert f"{method} {path} is not served here" in told["error"]["message"]


def test_a_block_that_chat_does_not_know_is_refused() -> None:
    body = asked(messages=[{"role": "user", "content": [{"type": "zzz"}]}])

    with pytest.raises(BadRequest, match="a block of type zzz is not known here: send text"):
        applied(CHAT, body, Limits())


def test_the_configuration_is_read() -> None:
    limits, gate = front('{"max_tokens": null, "thinking_tokens": 1024, "gate": "/run/gate"}')

    assert (limits, gate.folder) == (Limits(None, 1024), Path("/run/gate"))
