"""The gate's program: open after right answers, closed after wrong ones."""

import json
from pathlib import Path
from socketserver import BaseRequestHandler, ThreadingTCPServer
from threading import Thread
from typing import Any

import pytest

from glmstead.answers import ask, gate


@pytest.fixture
def config(tmp_path: Path) -> Path:
    settings: dict[str, Any] = {"enabled": True, "url": "http://127.0.0.1:1", "model": "glm-5.2"}
    settings |= {"long_lines": 12, "tools": True, "thinking": True, "timeout_s": 5}
    path = tmp_path / "gate.json"
    path.write_text(json.dumps(settings))
    return path


def test_without_an_endpoint_it_closes_and_says_each_question(
    config: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("LITELLM_MASTER_KEY", "sk-x")
    (tmp_path / "open").touch()

    assert gate.main(str(config), str(tmp_path)) == 1

    assert not (tmp_path / "open").exists()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "10 of 10 answers are wrong, the gateway stays closed:"
    assert lines[1].startswith("ready /v1/chat/completions: URLError: ")
    assert len(lines) == 11


class Babble(BaseRequestHandler):
    """Answers every request with what is no HTTP."""

    def handle(self) -> None:
        self.request.recv(65536)
        self.request.sendall(b"nonsense\r\n\r\n")


def test_what_speaks_no_http_is_a_wrong_answer() -> None:
    with ThreadingTCPServer(("127.0.0.1", 0), Babble) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        request = {"url": f"http://127.0.0.1:{server.server_address[1]}", "timeout_s": 5}
        rows = ask.answers_to(
            {**request, "asks": [{"name": "ready", "path": "/", "body": {}}]}, "k"
        )
        server.shutdown()

    assert rows[0]["error"] == "BadStatusLine: nonsense\r\n"


@pytest.mark.parametrize("text", ["", "sk-1", "KEY=", "KEY=a b", "KEY=a\nOTHER=b", "KEY=\u00e9"])
def test_a_key_file_holds_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "key").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError):
        ask.read_key(str(tmp_path / "key"))
    (tmp_path / "key").write_text("KEY=sk-1=\n")
    assert ask.read_key(str(tmp_path / "key")) == "sk-1="


def test_switched_off_it_opens_without_asking(config: Path, tmp_path: Path) -> None:
    config.write_text(json.dumps({**json.loads(config.read_text()), "enabled": False}))

    assert gate.main(str(config), str(tmp_path)) == 0

    assert (tmp_path / "open").exists()
