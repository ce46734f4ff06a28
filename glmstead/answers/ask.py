"""Asks an endpoint over both wire formats; standard library only, so that it also runs on a host.

As a program: one JSON argument {"url", "key_file", "timeout_s", "asks"}, one JSON line of rows out.
The key is read from a file here and never leaves this process but in the request's header.
"""

import json
import sys
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any


def read_key(path: str) -> str:
    """The value of the last ``NAME=value`` line of an environment file."""
    return Path(path).read_text().split("=", 1)[1].strip()


def text_of(document: "dict[str, Any]") -> str:
    """The answer's text in a whole OpenAI or Anthropic document."""
    if "choices" in document:
        return document["choices"][0]["message"].get("content") or ""
    return "".join(part.get("text", "") for part in document["content"])


def piece_of(event: "dict[str, Any]") -> str:
    """The text in one streamed OpenAI or Anthropic event."""
    if event.get("choices"):
        return event["choices"][0]["delta"].get("content") or ""
    delta = event.get("delta") or {}
    return delta.get("text", "") if isinstance(delta, dict) else ""


def streamed_text(lines: Any) -> str:
    """The text of a server-sent event stream."""
    pieces = []
    for line in lines:
        data = line.decode().strip().removeprefix("data:").strip()
        if line.startswith(b"data:") and data != "[DONE]":
            pieces.append(piece_of(json.loads(data)))
    return "".join(pieces)


def ask(request: "dict[str, Any]", ask: "dict[str, Any]", key: str) -> "dict[str, Any]":
    """Send one question; the row says ``text`` or, in one line, ``error``, and ``seconds``."""
    started = time.monotonic()
    row: dict[str, Any] = {"name": ask["name"], "text": None, "error": None}
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
    body = json.dumps(ask["body"]).encode()
    message = urllib.request.Request(request["url"] + ask["path"], body, headers)
    try:
        with urllib.request.urlopen(message, timeout=request["timeout_s"]) as answer:
            stream = ask["body"].get("stream", False)
            row["text"] = streamed_text(answer) if stream else text_of(json.load(answer))
    except urllib.error.HTTPError as error:
        row["error"] = f"HTTP {error.code}: {error.read(300).decode(errors='replace')}"
    except (OSError, ValueError, LookupError, TypeError) as error:
        row["error"] = f"{type(error).__name__}: {error}"
    row["seconds"] = round(time.monotonic() - started, 2)
    return row


def ask_all(request: "dict[str, Any]") -> "list[dict[str, Any]]":
    """Rows of all questions, asked two at a time, in the order of the request."""
    try:
        key = read_key(request["key_file"])
    except (OSError, IndexError) as error:
        return [
            {"name": one["name"], "text": None, "error": f"no key: {error}", "seconds": 0.0}
            for one in request["asks"]
        ]
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda one: ask(request, one, key), request["asks"]))


if __name__ == "__main__":
    print(json.dumps(ask_all(json.loads(sys.argv[1]))))
