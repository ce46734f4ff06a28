"""What the gateway does with a request before LiteLLM sees it; standard library only, no I/O.

A client must never meet a 5xx or a hang for what this model cannot do: Claude Code tries a 500
eleven times, a 400 once.
"""

from dataclasses import dataclass
from typing import Any

ANSWERING = ("/messages", "/completions", "/responses", "/count_tokens")
"""How the paths end that make the engine work."""

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
_SERVED_ELSEWHERE = ("mcp_servers", "container")


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
    for name in _SERVED_ELSEWHERE:
        if body.get(name):
            raise BadRequest(f"{name} is not served here: the client has to run its tools itself")
    for tool in body.get("tools") or []:
        _refuse_server_tool(tool)
    for message in body.get("messages") or []:
        _refuse_media(message)
    return _within(body, limits)


def _refuse_server_tool(tool: Any) -> None:
    kind = tool.get("type") if isinstance(tool, dict) else None
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
        if kind in _MEDIA:
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
