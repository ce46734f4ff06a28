"""What the gateway does with a request before LiteLLM sees it; standard library only, no I/O.

A client must never meet a 5xx or a hang for what this model cannot do: Claude Code tries a 500
eleven times, a 400 once.
"""

from dataclasses import dataclass
from typing import Any

_CALLS = ("/chat/completions", "/completions", "/messages", "/messages/count_tokens", "/responses")
SERVED = frozenset(f"{version}{call}" for version in ("", "/v1") for call in _CALLS)
"""What may be sent here, all of it work for the engine; LiteLLM without a database answers its other paths with a 500."""

_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens")
_MEDIA = {
    "image": "images",
    "image_url": "images",
    "input_image": "images",
    "document": "documents",
    "file": "files",
    "input_file": "files",
    "input_audio": "sound",
    "video_url": "video",
}
_BLOCKS_OF_CHAT = ("text", "refusal", "thinking", "redacted_thinking")
_SERVED_ELSEWHERE = ("mcp_servers", "container")
_LITELLM_OWN = ("api_base", "base_url", "timeout", "num_retries", "fallbacks", "tags")


@dataclass(frozen=True)
class Limits:
    """Tokens: the most an answer may have, and the least one that thinks is given."""

    max_tokens: int | None = None
    thinking_tokens: int = 0
    thinking_suffix: str = "-thinking"


class BadRequest(Exception):
    """A request that no engine of ours can serve; the message says what to do instead."""


def applied(path: str, body: dict[str, Any], limits: Limits) -> dict[str, Any]:
    """Return the request as LiteLLM shall see it; raises BadRequest."""
    if path.endswith(("/messages", "/chat/completions")) and not body.get("messages"):
        raise BadRequest("messages is empty: send at least one message")
    _refuse_shapes(path, body)
    for name in _SERVED_ELSEWHERE:
        if body.get(name):
            raise BadRequest(f"{name} is not served here: the client has to run its tools itself")
    for tool in body.get("tools") or []:
        _refuse_server_tool(tool)
    given = body.get("input")  # of /v1/responses: a text, or as messages
    for message in [*(body.get("messages") or []), *(given if isinstance(given, list) else [])]:
        _refuse_media(message)
    return _within(body, limits)


def _refuse_shapes(path: str, body: dict[str, Any]) -> None:
    """What LiteLLM falls over: it says 500, or 200 with an error inside, and not what is wrong."""
    for name in _LITELLM_OWN:
        if body.get(name) is not None:
            raise BadRequest(f"{name} is a setting of the gateway: leave it out")
    for name in ("messages", "tools"):
        _refuse_no_objects(name, body.get(name))
    for message in body.get("messages") or []:
        if not isinstance(message.get("role"), str):
            raise BadRequest("a message has no role: send user, assistant or system")
        _refuse_no_objects("tool_calls", message.get("tool_calls"))
        _refuse_content(message.get("content"), chat=path.endswith("/chat/completions"))
    if path.endswith("/responses") and not isinstance(body.get("input", ""), (str, list)):
        raise BadRequest("input is neither text nor a list: send one of them")
    if path.endswith("/completions") and "/chat/" not in path and not body.get("prompt"):
        raise BadRequest("prompt is empty: send a text")
    if body.get("stream") not in (None, True, False):
        raise BadRequest("stream is neither true nor false: send one of them")
    objects = ["response_format", *(["tool_choice"] if path.endswith("/messages") else [])]
    for name in objects:
        if body.get(name) and not isinstance(body[name], dict):
            raise BadRequest(f"{name} is no object: send one, or leave it out")


def _refuse_content(content: Any, chat: bool) -> None:
    if content is None or isinstance(content, str):
        return
    if not isinstance(content, list):
        raise BadRequest("the content of a message is neither text nor a list: send one of them")
    _refuse_no_objects("content", content)
    for block in content:
        if not isinstance(block.get("type"), str) or not isinstance(block.get("text", ""), str):
            raise BadRequest('a block has no type, or a text that is none: send {"type": "text"...')
        if chat and block["type"] not in (*_BLOCKS_OF_CHAT, *_MEDIA):
            raise BadRequest(f"a block of type {block['type']} is not known here: send text")


def _refuse_no_objects(name: str, value: Any) -> None:
    if value and not (isinstance(value, list) and all(isinstance(one, dict) for one in value)):
        raise BadRequest(f"{name} is no list of objects: send one, or leave it out")


def _refuse_server_tool(tool: dict[str, Any]) -> None:
    kind = tool.get("type")
    if kind not in (None, "custom", "function"):
        raise BadRequest(
            f"the tool type {kind} runs on Anthropic's servers and is not served here: "
            "turn it off in the client, or declare a tool with an input_schema"
        )


def _refuse_media(part: Any) -> None:
    """Look into a message's content blocks, and into those of a tool's result."""
    content = part.get("content") if isinstance(part, dict) else None
    for block in content if isinstance(content, list) else []:
        kind = block.get("type") if isinstance(block, dict) else None
        if isinstance(kind, str) and kind in _MEDIA:
            raise BadRequest(f"{_MEDIA[kind]} are not served: this model reads text; send text")
        if kind == "tool_result":
            _refuse_media(block)


def _within(body: dict[str, Any], limits: Limits) -> dict[str, Any]:
    """The request with its token limits inside ours; one that asks for none keeps none."""
    changed = dict(body)
    thinks = str(body.get("model", "")).endswith(limits.thinking_suffix)
    for name in _LIMITS:
        asked = body.get(name)
        if not isinstance(asked, int) or isinstance(asked, bool):
            continue
        # Thinking that eats a small budget leaves an empty answer with HTTP 200.
        least = limits.thinking_tokens if thinks else 0
        changed[name] = min(max(asked, least), limits.max_tokens or max(asked, least))
    return changed
