"""Settings of clients: what they name, what they never hold."""

import json
from pathlib import Path

from click.testing import CliRunner

from glmstead import ROOT
from glmstead.cli import main
from glmstead.clients import Served, files

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
    (tmp_path / ".claude/settings.json").write_text("{}\n")
    refused = CliRunner().invoke(main, words)

    assert refused.exit_code == 1
    assert "settings.json: exists and differs; fix: merge it by hand" in refused.stderr
    assert (tmp_path / ".claude/settings.json").read_text() == "{}\n"
