"""The switch for thinking: another default in the checkpoint's own template, a request wins."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jinja2.sandbox import ImmutableSandboxedEnvironment

from glmstead import ROOT

PROGRAM = ROOT / "files" / "libexec" / "chat_template.py"
NANO = ROOT / "files" / "models" / "glm-nano"


def derived(model: Path, thinking: str, target: Path) -> "subprocess.CompletedProcess[str]":
    words = [sys.executable, str(PROGRAM), str(model), thinking, str(target)]
    return subprocess.run(words, capture_output=True, text=True)


def prompt(template: str, **request: Any) -> str:
    """As transformers renders it."""
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    messages = [{"role": "user", "content": "Hello"}]
    made = environment.from_string(template)
    return made.render(messages=messages, add_generation_prompt=True, **request)


def test_off_answers_at_once_unless_the_request_thinks(tmp_path: Path) -> None:
    own = (NANO / "chat_template.jinja").read_text()
    assert derived(NANO, "off", tmp_path / "t.jinja").returncode == 0
    off = (tmp_path / "t.jinja").read_text()

    assert prompt(off) == prompt(own, enable_thinking=False) != prompt(own)
    assert prompt(off, enable_thinking=True) == prompt(own, enable_thinking=True)


def test_on_thinks_with_high_effort_unless_the_request_says(tmp_path: Path) -> None:
    own = (NANO / "chat_template.jinja").read_text()
    assert derived(NANO, "on", tmp_path / "t.jinja").returncode == 0
    on = (tmp_path / "t.jinja").read_text()

    assert prompt(on) == prompt(own, reasoning_effort="high")
    assert prompt(on, reasoning_effort="max") == prompt(own, reasoning_effort="max")
    assert prompt(on, enable_thinking=False) == prompt(
        own, enable_thinking=False, reasoning_effort="high"
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, "No such file or directory"),
        ("{{ messages }}", "the template reads no enable_thinking"),
    ],
)
def test_a_checkpoint_without_the_switch_is_refused(
    text: str | None, reason: str, tmp_path: Path
) -> None:
    if text is not None:
        (tmp_path / "chat_template.jinja").write_text(text)

    run = derived(tmp_path, "off", tmp_path / "t.jinja")

    assert run.returncode == 1
    assert reason in run.stderr and "fix: remove" not in run.stderr
    assert len(run.stderr.splitlines()) == 1
    assert not (tmp_path / "t.jinja").exists()


def test_a_template_inside_the_tokenizer_s_configuration_is_found(tmp_path: Path) -> None:
    shutil.copy(NANO / "tokenizer_config.json", tmp_path)
    config = (tmp_path / "tokenizer_config.json").read_text().rstrip().removesuffix("}")
    (tmp_path / "tokenizer_config.json").write_text(
        config + ', "chat_template": "{{ enable_thinking }}"}'
    )

    assert derived(tmp_path, "off", tmp_path / "t.jinja").returncode == 0
    assert (tmp_path / "t.jinja").read_text().endswith("%}{{ enable_thinking }}")
