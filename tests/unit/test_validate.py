"""A validation against a small server that speaks both formats: verdicts and refusals."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from signal import SIGKILL
from typing import Any

import pytest
from click.testing import CliRunner

from glmstead import ROOT
from glmstead.answers.ask import Answer
from glmstead.answers.checks.long import depths, lengths
from glmstead.cli import main
from glmstead.commands.chat import pieces
from glmstead.commands.plan import Refusal
from glmstead.commands.tunnel import ssh_words
from glmstead.commands.validate import _session


class Engine(BaseHTTPRequestHandler):
    """Answers as a right engine would; ``faults`` make it wrong."""

    faults: dict[str, Any]
    protocol_version = "HTTP/1.1"

    def log_message(self, *words: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        if self.headers["Authorization"] not in (None, "Bearer sk-right"):
            return self._reply(401, {"error": {"message": "no such key"}})
        context = self.faults.get("context", 8192)
        if "models" in self.faults:
            return self._reply(200, self.faults["models"])
        models = [{"id": "glm-5.2", "max_model_len": context}, {"id": "glm-5.2-thinking"}]
        return self._reply(200, {"data": models})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "status" in self.faults:
            return self._reply(self.faults["status"], {"error": {"message": "engine is down"}})
        if body.get("tools") and self.faults.get("parser") is None:
            text = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser'
            return self._reply(400, {"error": {"message": text}})
        text = self.faults.get("text") or right(body["messages"][-1]["content"])
        if self.path == "/v1/messages":
            return self._messages(text, body)
        message = {"content": text}
        usage = {"prompt_tokens": 10, "completion_tokens": 4}
        if not body.get("stream"):
            choice = {"message": message, "finish_reason": "stop"}
            return self._reply(200, {"choices": [choice], "usage": usage})
        events = [{"choices": [{"delta": message, "finish_reason": "stop"}], "usage": usage}]
        return self._stream(self.faults.get("events", events))

    def _messages(self, text: str, body: dict[str, Any]) -> None:
        block = {"type": "text", "text": text}
        if not body.get("stream"):
            end = {"stop_reason": "end_turn", "usage": {"input_tokens": 10, "output_tokens": 4}}
            return self._reply(200, {"content": [block], **end})
        start = {"type": "content_block_start", "index": 0, "content_block": block}
        return self._stream([start, {"type": "message_delta", "delta": {"stop_reason": "x"}}])

    def _stream(self, events: list[dict[str, Any]]) -> None:
        data = "".join(f"data: {json.dumps(event)}\n\n" for event in events).encode()
        self._send(200, "text/event-stream", data)

    def _reply(self, status: int, document: Any) -> None:
        self._send(status, "application/json", json.dumps(document).encode())

    def _send(self, status: int, kind: str, data: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def right(question: str) -> str:
    known = {"READY": "READY", "17": "408", "123": "579", "passphrase": "BLUE-WALRUS-7421-OMEGA"}
    return next(answer for word, answer in known.items() if word in question)


@contextmanager
def serving(**faults: Any) -> Iterator[str]:
    handler = type("Faulty", (Engine,), {"faults": faults})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()


def validated(url: str, **changes: Any) -> tuple[int, dict[str, dict[str, Any]], str]:
    """Run a session; the exit status, its verdicts by what was asked, and its error output."""
    endpoint = {"name": "gateway", "url": url, "model": "glm-5.2", "key": "sk-right"}
    request: dict[str, Any] = {"profile": "quick", "context": 8192, "longest": None, "at_once": 4}
    request |= {"long_lines": 6, "seed": 1, "timeout_s": 5}
    request["endpoints"] = [endpoint | {k: changes[k] for k in endpoint if k in changes}]
    request |= {key: value for key, value in changes.items() if key in request}
    done = subprocess.run(
        [sys.executable, "-m", "glmstead.answers.session"],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    verdicts = [json.loads(line) for line in done.stdout.splitlines()]
    return done.returncode, {one["what"]: one for one in verdicts}, done.stderr


def test_right_answers_pass_and_missing_parsers_are_named() -> None:
    with serving() as url:
        status, verdicts, _ = validated(url)

    assert status == 1
    assert verdicts["ready /v1/messages streamed"]["ok"]
    assert verdicts["passphrase /v1/messages"]["ok"]
    assert verdicts["weather /v1/chat/completions"]["evidence"] == (
        "the engine has no tool parser; fix: set vllm_tool_call_parser and deploy"
    )
    assert verdicts["thinking /v1/messages"]["evidence"] == (
        "no reasoning, although thinking is on"
    )


def test_an_engine_that_returns_a_constant_fails_every_other_question() -> None:
    with serving(text="READY") as url:
        status, verdicts, _ = validated(url)

    assert status == 1
    assert verdicts["product /v1/chat/completions"]["evidence"] == "expected '408', got 'READY'"
    assert verdicts["sum /v1/messages"]["evidence"] == "expected '579', got 'READY'"


def test_a_loop_is_named() -> None:
    with serving(text="READY France France France France France France") as url:
        _, verdicts, _ = validated(url)

    assert verdicts["ready /v1/messages"]["evidence"].startswith("loops: 'READY France")


@pytest.mark.parametrize(
    ("changes", "faults", "said"),
    [
        ({"key": "sk-wrong"}, {}, "the key is refused (HTTP 401); fix: leave --key-file out"),
        ({"model": "glm-9"}, {}, "no model glm-9, it has glm-5.2, glm-5.2-thinking; fix: give"),
        ({}, {"status": 503}, "the engine does not answer, or is still loading (HTTP 503: "),
        ({}, {"context": 4096}, "8192 tokens asked, the engine serves 4096; fix: give --longest"),
        ({}, {"models": ["glm-5.2"]}, "no list of models; fix: see what listens there"),
        ({"url": "http://127.0.0.1:1"}, {}, "no answer (ConnectError); fix: glmstead status"),
    ],
)
def test_what_cannot_be_asked_is_one_line(
    changes: dict[str, Any], faults: dict[str, Any], said: str
) -> None:
    with serving(**faults) as url:
        status, verdicts, errors = validated(**{"url": url, **changes})

    assert (status, verdicts) == (3, {})
    assert errors.count("\n") == 1
    assert said in errors


@pytest.mark.parametrize("events", [[], [{"choices": [{"delta": {"content": "REA"}}]}]])
def test_a_first_hello_that_breaks_off_is_no_answer(events: list[dict[str, Any]]) -> None:
    with serving(events=events) as url:
        gateway = {"url": url, "key": "k"}
        with pytest.raises(Refusal) as refusal:
            list(pieces(gateway, {"stream": True, "messages": [{"content": "READY"}]}, Answer()))

    assert "the stream ended before the answer did" in str(refusal.value)


def test_a_validation_that_is_left_leaves_nobody_asking() -> None:
    with _session({"endpoints": []}) as process:
        pass

    assert process.wait(60) == -SIGKILL


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["--key-file", "pyproject.toml"],
            "pyproject.toml: not one line of NAME=key; fix: a file of one",
        ),
        (["--receipt", "nowhere/x.json"], "nowhere is no folder"),
    ],
)
def test_files_that_will_not_do_are_told_before_a_host_is_asked(
    words: list[str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    done = CliRunner().invoke(main, ["validate", "inventories/lab.py", *words])

    assert done.exit_code in (1, 2)
    assert said in done.stderr


def test_needles_rise_to_the_declared_context() -> None:
    assert lengths(8192) == [512, 1024, 2048, 4096, 7936]
    assert lengths(8192, 4096) == [512, 1024, 2048, 4096]
    assert lengths(262_144)[-2:] == [131_072, 261_888]
    assert depths(4096, 3) == (0.1, 0.5, 0.9)
    assert depths(65_536, 7) == (0.5,)


def test_the_tunnel_takes_the_connection_of_the_inventory() -> None:
    data = {"ssh_hostname": "10.0.0.1", "ssh_user": "ubuntu", "ssh_key": "/k", "ssh_port": 2222}

    assert ssh_words("gpu1", data) == [
        *("ssh", "-N", "-o", "BatchMode=yes", "-o", "ExitOnForwardFailure=yes"),
        *("-o", "ConnectTimeout=10", "-o", "StrictHostKeyChecking=accept-new"),
        *("-i", "/k", "-p", "2222", "-l", "ubuntu", "10.0.0.1"),
    ]
