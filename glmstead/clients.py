"""Ready-to-paste settings of the clients people use; the key is named, never written."""

import json
from dataclasses import dataclass
from typing import Any

KEY = "GLMSTEAD_API_KEY"


@dataclass(frozen=True)
class Served:
    """What a client must know: base URL, model, its context and the most an answer may have."""

    url: str
    model: str
    context: int
    max_tokens: int


@dataclass(frozen=True)
class ClientFile:
    """A file of a client: where it belongs, under a home folder, and its text."""

    client: str
    path: str
    text: str


def files(served: Served) -> list[ClientFile]:
    """The settings of every client, in the order people read them."""
    return [
        ClientFile("Claude Code", ".claude/settings.json", _json(claude_code(served))),
        ClientFile("pi", ".pi/agent/models.json", _json(pi(served))),
        ClientFile("curl", "glmstead/hello.sh", _curl(served)),
        ClientFile("OpenAI SDK", "glmstead/hello_openai.py", _openai(served)),
        ClientFile("Anthropic SDK", "glmstead/hello_anthropic.py", _anthropic(served)),
    ]


def claude_code(served: Served) -> dict[str, Any]:
    """Claude Code's user settings; every model it may ask for is ours."""
    models = ("MODEL", "DEFAULT_OPUS_MODEL", "DEFAULT_SONNET_MODEL", "DEFAULT_HAIKU_MODEL")
    return {
        "apiKeyHelper": f'printf %s "${KEY}"',
        "env": {
            "ANTHROPIC_BASE_URL": served.url,
            **{f"ANTHROPIC_{name}": served.model for name in models},
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(served.max_tokens),
        },
        # It runs on Anthropic's servers; the gateway would refuse it.
        "permissions": {"deny": ["WebSearch"]},
    }


def pi(served: Served) -> dict[str, Any]:
    """pi's providers: one a wire format, and the model that thinks beside the one that does not."""

    def model(name: str) -> dict[str, Any]:
        about = {"id": name, "reasoning": False, "input": ["text"]}
        return {**about, "contextWindow": served.context, "maxTokens": served.max_tokens}

    models = [model(served.model), model(f"{served.model}-thinking")]
    common = {"apiKey": KEY, "models": models}
    plain = {"supportsDeveloperRole": False, "supportsReasoningEffort": False}
    openai = {"baseUrl": f"{served.url}/v1", "api": "openai-completions", "compat": plain}
    anthropic = {"baseUrl": served.url, "api": "anthropic-messages"}
    return {
        "providers": {
            "glmstead": {**openai, **common},
            "glmstead-messages": {**anthropic, **common},
        }
    }


def _curl(served: Served) -> str:
    message = {"role": "user", "content": "What is 17 multiplied by 24?"}
    body = {"model": served.model, "messages": [message], "max_tokens": 256}
    return (
        f"curl --fail-with-body --silent --show-error {served.url}/v1/chat/completions \\\n"
        f'  --header "Authorization: Bearer ${KEY}" \\\n'
        "  --header 'Content-Type: application/json' \\\n"
        f"  --data '{json.dumps(body)}'\n"
    )


def _openai(served: Served) -> str:
    return f'''import os

from openai import OpenAI

client = OpenAI(base_url="{served.url}/v1", api_key=os.environ["{KEY}"])
answer = client.chat.completions.create(
    model="{served.model}",
    max_tokens=256,
    messages=[{{"role": "user", "content": "What is 17 multiplied by 24?"}}],
)
print(answer.choices[0].message.content)
'''


def _anthropic(served: Served) -> str:
    return f'''import os

from anthropic import Anthropic

client = Anthropic(base_url="{served.url}", auth_token=os.environ["{KEY}"])
answer = client.messages.create(
    model="{served.model}",
    max_tokens=256,
    messages=[{{"role": "user", "content": "What is 17 multiplied by 24?"}}],
)
print("".join(block.text for block in answer.content if block.type == "text"))
'''


def _json(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=2) + "\n"
