"""Engines that start, say healthy, answer HTTP 200 and are wrong: the gate's questions see each.

Each is one real server beside the deployed one: about 40 s on an idle machine.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from glmstead import ROOT
from tests.lab import wrong_models
from tests.lab.conftest import ADDRESS, HEAD, Deployed

pytestmark = pytest.mark.lab
PORT = 8100
MODEL = ROOT / "files/models/glm-nano"
UNIT, FOLDER = "wrong-engine", "/var/lib/glmstead/wrong"
TEMPLATE = """{% for m in messages %}<|im_start|>{{ m.role }}
{{ m.content }}<|im_end|>
{% endfor %}<|im_start|>assistant
"""
READY = "ready /v1/chat/completions"
SUM = "sum /v1/chat/completions"
CALL = "weather /v1/chat/completions"
THINKING = "thinking /v1/chat/completions"
Start = Callable[..., dict[str, dict[str, Any]]]


@pytest.fixture
def verdicts(deployed: Deployed, tmp_path: Path) -> Iterator[Start]:
    """Serve a changed engine on one rank and put the gate's questions to it directly."""

    def start(
        make: Callable[[Path, Path], None] | None = None, **changes: Any
    ) -> dict[str, dict[str, Any]]:
        if make is not None:
            make(MODEL, tmp_path / "model")
            deployed.send(HEAD, tmp_path / "model", FOLDER)
            changes["model"] = FOLDER
        arguments = yaml.safe_load(deployed.ssh(HEAD, "cat /etc/glmstead/vllm.yaml"))
        arguments |= {"host": "0.0.0.0", "port": PORT, "tensor-parallel-size": 1, **changes}
        arguments = {k: v for k, v in arguments.items() if v is not None}
        del arguments["distributed-executor-backend"]
        serve(deployed, arguments)
        return asked(f"http://{ADDRESS}:{PORT}")

    yield start
    deployed.ssh(HEAD, f"systemctl stop {UNIT} 2>/dev/null; rm -rf {FOLDER} /run/{UNIT}.yaml")


def serve(lab: Deployed, arguments: dict[str, Any]) -> None:
    """Start an engine of its own beside the deployed one, and wait for its health."""
    text = yaml.safe_dump(arguments)
    lab.ssh(HEAD, f"cat > /run/{UNIT}.yaml <<'END'\n{text}\nEND\nchmod 644 /run/{UNIT}.yaml")
    lab.ssh(
        HEAD,
        f"systemctl reset-failed {UNIT} 2>/dev/null; systemd-run --quiet --collect --unit={UNIT} "
        "--uid=glmstead -p EnvironmentFile=/etc/glmstead/engine.env /opt/glmstead/engine/bin/python"
        f" -m vllm.entrypoints.openai.api_server --config /run/{UNIT}.yaml",
    )
    wait = f"/usr/bin/python3 /opt/glmstead/libexec/wait_answer.py http://127.0.0.1:{PORT}/health"
    done = lab.run("glmstead", "lab", "ssh", HEAD, f"{wait} 400", timeout_s=420)
    assert done.returncode == 0, lab.ssh(HEAD, f"journalctl -o cat -u {UNIT} | tail -n 40")


def asked(url: str) -> dict[str, dict[str, Any]]:
    """The verdicts of the quick profile, by question."""
    endpoint = {"name": "direct", "url": url, "model": "glm-5.2"}
    request = {"endpoints": [endpoint], "profile": "quick", "context": 8192, "longest": None}
    request |= {"at_once": 4, "long_lines": 12, "seed": 1, "timeout_s": 30}
    done = subprocess.run(
        [sys.executable, "-m", "glmstead.answers.session"],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    return {one["what"]: one for one in map(json.loads, done.stdout.splitlines())}


def wrong(found: dict[str, dict[str, Any]]) -> set[str]:
    return {what for what, verdict in found.items() if not verdict["ok"]}


def test_without_the_rotary_option_every_answer_is_wrong_and_seen(verdicts: Start) -> None:
    found = verdicts(**{"compilation-config": None})

    assert wrong(found) == set(found)
    # What a health check and a status code say of the same server:
    assert httpx.get(f"http://{ADDRESS}:{PORT}/health").status_code == 200


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [
        wrong_models.other_rope,
        wrong_models.corrupted_shard,
        wrong_models.other_seed_on_one_rank,
    ],
)
def test_a_wrong_checkpoint_is_seen(verdicts: Start, make: Callable[[Path, Path], None]) -> None:
    assert SUM in wrong(verdicts(make))


@pytest.mark.slow
def test_a_wrong_chat_template_is_seen(verdicts: Start) -> None:
    assert READY in wrong(verdicts(**{"chat-template": TEMPLATE}))


@pytest.mark.slow
def test_wrong_parsers_are_named(verdicts: Start) -> None:
    found = verdicts(**{"tool-call-parser": "hermes", "reasoning-parser": None})

    assert READY not in wrong(found)
    assert found[CALL]["evidence"].startswith("tags in the text, a parser is missing or wrong")
    assert found[THINKING]["evidence"].startswith("tags in the text, a parser is missing or wrong")


@pytest.mark.slow
def test_without_a_tool_parser_the_one_line_says_so(verdicts: Start) -> None:
    found = verdicts(**{"tool-call-parser": None, "enable-auto-tool-choice": None})

    assert found[CALL]["evidence"] == (
        "the engine has no tool parser; fix: set vllm_tool_call_parser and deploy"
    )
