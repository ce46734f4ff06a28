"""Real clients, installed from npm, against the lab's gateway with the settings we print."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest

from glmstead.lab.config import LabConfig
from tests.lab.conftest import GATEWAY, INVENTORY, Deployed

pytestmark = pytest.mark.lab
PACKAGES = ("@anthropic-ai/claude-code@2.1.197", "@mariozechner/pi-coding-agent@0.73.1")
QUESTION, ANSWER = "What is 17 multiplied by 24?", "17 multiplied by 24 is 408."
SYSTEM = ("--system-prompt", "You are a helpful assistant.")
Run = subprocess.CompletedProcess[str]


@pytest.fixture(scope="session")
def programs() -> Path:
    """The clients' programs, installed once into the lab's cache."""
    folder = LabConfig.from_environment().cache / "clients"
    folder.mkdir(parents=True, exist_ok=True)
    words = ["npm", "install", "--no-fund", "--no-audit", "--prefix", str(folder), *PACKAGES]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return folder / "node_modules" / ".bin"


@pytest.fixture(scope="module")
def key(deployed: Deployed) -> str:
    return deployed.run("glmstead", "clients", INVENTORY, "--key").stdout.strip()


@pytest.fixture(scope="module")
def home(deployed: Deployed, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home folder with nothing but what ``glmstead clients --write`` put there."""
    folder = tmp_path_factory.mktemp("home")
    written = deployed.run("glmstead", "clients", INVENTORY, "--write", folder)
    assert written.returncode == 0, written.stderr
    (folder / "notes.txt").write_text("sunny, 21 C\n")
    return folder


def said(programs: Path, home: Path, key: str, *words: str) -> str:
    """What a client prints without a person; it gets the key by its variable only."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "GLMSTEAD_API_KEY": key}
    done = subprocess.run(
        [str(programs / words[0]), *words[1:]],
        env={**environment, "PI_OFFLINE": "1"},
        cwd=home,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


def test_claude_code_answers(programs: Path, home: Path, key: str) -> None:
    answer = said(programs, home, key, "claude", "-p", QUESTION, *SYSTEM, "--tools", "")

    assert answer == f"{ANSWER}\n"


def test_claude_code_uses_a_tool(programs: Path, home: Path, key: str) -> None:
    words = ("-p", "Read the file notes.txt", *SYSTEM, "--tools", "Read")
    told = json.loads(said(programs, home, key, "claude", *words, "--output-format", "json"))

    assert told["num_turns"] == 2  # the call and the answer
    assert "sunny, 21 C" in told["result"]
    assert not told["is_error"]


@pytest.mark.parametrize("provider", ["glmstead", "glmstead-messages"])
def test_pi_answers_over_both_wire_formats(
    programs: Path, home: Path, key: str, provider: str
) -> None:
    words = ("-p", "--no-session", "--no-tools", "--provider", provider, "--model", "glm-5.2")

    assert said(programs, home, key, "pi", *words, QUESTION) == f"{ANSWER}\n"


def test_curl_answers(home: Path, key: str) -> None:
    done = subprocess.run(
        ["sh", home / "glmstead/hello.sh"],
        env={"PATH": os.environ["PATH"], "GLMSTEAD_API_KEY": key},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert json.loads(done.stdout)["choices"][0]["message"]["content"] == ANSWER


def test_the_key_stands_in_no_written_file(home: Path, key: str) -> None:
    files = [path for path in home.rglob("*") if path.is_file()]

    assert len(key) > 40
    assert not [path for path in files if key.encode() in path.read_bytes()]


IMAGE = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
}
READ = {"name": "Read", "description": "Reads a file", "input_schema": {"type": "object"}}
CALL = {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {}}
SHOWN = {"type": "tool_result", "tool_use_id": "toolu_1", "content": [IMAGE]}


def turns(*contents: Any, roles: str = "user") -> dict[str, Any]:
    names = roles.split()
    return {"messages": [{"role": r, "content": c} for r, c in zip(names, contents, strict=True)]}


WORKS: dict[str, dict[str, Any]] = {
    "a system message inside messages": turns(
        "Hello", "Be brief.", QUESTION, roles="user system user"
    ),
    "a cached system prompt": {
        "system": [
            {"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}},
        ]
    },
    "effort xhigh": {"output_config": {"effort": "xhigh"}},
    "an effort nobody knows": {"output_config": {"effort": "warp"}},
    "adaptive thinking": {"thinking": {"type": "adaptive"}, "max_tokens": 2000},
    "more tokens than there are": {"max_tokens": 200_000},
    "a tool that is declared custom": {"tools": [{**READ, "type": "custom"}]},
    "context management": {"context_management": {"edits": []}},
    "an answer begun by the client": turns(QUESTION, "17", roles="user assistant"),
}
REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "an image": (turns([IMAGE]), "images are not served: this model reads text"),
    "an image in a tool's result": (
        turns(QUESTION, [CALL], [SHOWN], roles="user assistant user"),
        "images are not served: this model reads text",
    ),
    "a document": (turns([{"type": "document"}]), "documents are not served"),
    "web search": (
        {"tools": [{"type": "web_search_20250305", "name": "web_search"}]},
        "the tool type web_search_20250305 runs on Anthropic's servers",
    ),
    "memory": (
        {"tools": [{"type": "memory_20250818", "name": "memory"}]},
        "the tool type memory_20250818 runs on Anthropic's servers",
    ),
    "no message": ({"messages": []}, "messages is empty"),
    "a model nobody serves": ({"model": "gpt-9"}, "Invalid model name passed in model=gpt-9"),
    "too long a text": (turns("word " * 20_000), "maximum context length is 8192 tokens"),
}


def post(key: str, body: dict[str, Any], **headers: str) -> httpx.Response:
    whole = {"model": "glm-5.2", "max_tokens": 100, **turns(QUESTION), "temperature": 0, **body}
    versioned = {"x-api-key": key, "anthropic-version": "2023-06-01", **headers}
    return httpx.post(f"{GATEWAY}/v1/messages?beta=true", json=whole, headers=versioned, timeout=60)


@pytest.mark.parametrize("name", list(WORKS))
def test_what_clients_add_does_no_harm(deployed: Deployed, key: str, name: str) -> None:
    reply = post(key, WORKS[name])

    assert reply.status_code == 200, reply.text
    assert reply.json()["content"] == [{"type": "text", "text": ANSWER}]


def test_beta_headers_do_no_harm(deployed: Deployed, key: str) -> None:
    betas = "claude-code-20250219,interleaved-thinking-2025-05-14,no-such-beta-2099-01-01"
    reply = post(key, {}, **{"anthropic-beta": betas})

    assert reply.json()["content"] == [{"type": "text", "text": ANSWER}]


@pytest.mark.parametrize("name", list(REFUSED))
def test_what_cannot_be_served_is_one_clear_400(deployed: Deployed, key: str, name: str) -> None:
    body, text = REFUSED[name]
    reply = post(key, body)

    assert reply.status_code == 400
    assert reply.json()["type"] == "error"
    assert text in reply.json()["error"]["message"]


def test_a_thinking_answer_is_never_empty_for_a_small_budget(deployed: Deployed, key: str) -> None:
    reply = post(key, {"model": "glm-5.2-thinking", "max_tokens": 8})

    assert reply.json()["content"][-1] == {"type": "text", "text": ANSWER}
    assert reply.json()["stop_reason"] == "end_turn"
