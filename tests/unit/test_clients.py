"""Settings of clients: what they name, what they never hold."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from glmstead import ROOT
from glmstead.cli import main
from glmstead.clients import Served, files
from glmstead.commands.endpoint import Declared

SERVED = Served("http://10.0.0.11:4000", "glm-5.2", 262_144, 32_000)


def text_of(client: str) -> str:
    return next(one.text for one in files(SERVED) if one.client == client)


def test_claude_code_asks_for_our_model_only() -> None:
    settings = json.loads(text_of("Claude Code"))

    assert settings["apiKeyHelper"] == 'printf %s "$GLMSTEAD_API_KEY"'
    assert settings["env"]["ANTHROPIC_BASE_URL"] == "http://10.0.0.11:4000"
    assert settings["env"]["ANTHROPIC_DEFAULT_HAIKU_MODEL"] == "glm-5.2"
    assert settings["env"]["CLAUDE_CODE_MAX_OUTPUT_TOKENS"] == "32000"


def test_pi_has_a_provider_for_each_wire_format() -> None:
    providers = json.loads(text_of("pi"))["providers"]

    assert {one["api"]: one["baseUrl"] for one in providers.values()} == {
        "openai-completions": "http://10.0.0.11:4000/v1",
        "anthropic-messages": "http://10.0.0.11:4000",
    }
    model = providers["glmstead"]["models"][0]
    assert (model["id"], model["contextWindow"], model["maxTokens"]) == ("glm-5.2", 262_144, 32_000)


def test_the_programs_of_the_sdks_are_python() -> None:
    for client in ("OpenAI SDK", "Anthropic SDK"):
        compile(text_of(client), client, "exec")


def test_files_are_written_once_and_another_s_are_left_alone(tmp_path: Path) -> None:
    words = ["clients", str(ROOT / "inventories/lab.py"), "--write", str(tmp_path)]

    assert CliRunner().invoke(main, words).exit_code == 0
    assert CliRunner().invoke(main, words).exit_code == 0
    (tmp_path / ".pi/agent/models.json").write_text("{}\n")
    (tmp_path / ".claude/settings.json").unlink()
    refused = CliRunner().invoke(main, words)

    assert refused.exit_code == 1
    assert "models.json: exists and differs, nothing is written; fix: merge" in refused.stderr
    assert (tmp_path / ".pi/agent/models.json").read_text() == "{}\n"
    assert not (tmp_path / ".claude/settings.json").exists()


@pytest.mark.parametrize("odd", ["a file", "a folder in the way", "not text", "a lost link"])
def test_a_home_that_cannot_take_the_files_is_one_line(tmp_path: Path, odd: str) -> None:
    home, path = tmp_path / "home", tmp_path / "home" / ".pi/agent/models.json"
    if odd == "a file":
        home.write_text("mine")
    else:
        path.parent.mkdir(parents=True)
    if odd == "a folder in the way":
        path.mkdir()
    elif odd == "not text":
        path.write_bytes(b"\xff")
    elif odd == "a lost link":
        path.symlink_to("nowhere")
    words = ["clients", str(ROOT / "inventories/lab.py"), "--write", str(home)]
    refused = CliRunner().invoke(main, words)

    assert (refused.exit_code, refused.stdout) == (1, "")
    assert refused.stderr.count("\n") == 1
    assert "; fix: " in refused.stderr
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize(
    "url", ["gpu1:4000", "http://", "http://a/v1", "http://a/", "http://a'; rm -rf ~; '", "ftp://a"]
)
def test_a_url_that_is_no_base_url_is_refused(url: str) -> None:
    refused = CliRunner().invoke(main, ["clients", str(ROOT / "inventories/lab.py"), "--url", url])

    assert (refused.exit_code, refused.stdout) == (1, "")
    assert refused.stderr.startswith(f"--url {url}: no base URL; fix: such as ")


@pytest.mark.parametrize(
    ("bind", "url"),
    [
        ("0.0.0.0", "http://gpu1.example:4000"),
        ("::", "http://gpu1.example:4000"),
        ("10.0.0.5", "http://10.0.0.5:4000"),
        ("fd00::5", "http://[fd00::5]:4000"),
        ("127.0.0.1", None),
        ("::1", None),
        ("localhost", None),
    ],
)
def test_clients_are_told_the_address_the_gateway_listens_on(bind: str, url: str | None) -> None:
    settings: Any = SimpleNamespace(gateway=SimpleNamespace(bind=bind, port=4000))
    cluster: Any = None

    found = Declared(settings, cluster, "gpu1", {"ssh_hostname": "gpu1.example"})

    assert found.url == url
