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
from http.client import HTTPException
from pathlib import Path
from typing import Any

Row = dict[str, Any]
EMPTY: Row = {"text": "", "reasoning": "", "calls": [], "finish": None, "usage": {}}
NONSENSE = (ValueError, LookupError, TypeError, AttributeError)
"""What reading an answer raises that is not in the form of its wire format."""


def read_key(path: str) -> str:
    """The value of a file's one ``NAME=value`` line; raises OSError, ValueError."""
    value = Path(path).read_text(encoding="ascii").partition("=")[2].split()
    if len(value) != 1:
        raise ValueError("not one line of NAME=key")
    return value[0]


class Answer:
    """An answer in either format, whole or put together from the events of a stream."""

    def __init__(self) -> None:
        self.row: Row = {**EMPTY, "calls": []}
        self._open: dict[int, dict[str, str]] = {}

    def whole(self, document: "dict[str, Any]") -> Row:
        """Return the row of an unstreamed document."""
        if "choices" in document:
            self._openai(document, document["choices"][0]["message"])
        else:
            self._usage(document.get("usage"))
            self.row["finish"] = document["stop_reason"]
            for index, block in enumerate(document["content"]):
                self._block(index, block)
        return self.closed()

    def event(self, event: "dict[str, Any]") -> bool:
        """Take one event of a stream; True when it brought a piece of the answer."""
        if event.get("error"):
            raise ValueError(f"error in the stream: {json.dumps(event['error'])[:200]}")
        if event.get("choices"):
            return self._openai(event, event["choices"][0].get("delta") or {})
        self._usage(event.get("usage"))
        self._usage((event.get("message") or {}).get("usage"))
        if event.get("type") == "content_block_start":
            return self._block(event["index"], event["content_block"])
        delta = event.get("delta")
        if not isinstance(delta, dict):
            return False
        self.row["finish"] = delta.get("stop_reason") or self.row["finish"]
        return self._block(event.get("index", 0), delta)

    def closed(self) -> Row:
        """Return the row, with the arguments of every call parsed."""
        for call in self._open.values():
            arguments = json.loads(call["arguments"] or "{}")
            self.row["calls"].append({"name": call["name"], "arguments": arguments})
        return self.row

    def _openai(self, document: "dict[str, Any]", part: "dict[str, Any]") -> bool:
        self._usage(document.get("usage"))
        self.row["finish"] = document["choices"][0].get("finish_reason") or self.row["finish"]
        text = part.get("content") or ""
        reasoning = part.get("reasoning_content") or part.get("reasoning") or ""
        self.row["text"] += text
        self.row["reasoning"] += reasoning
        calls = part.get("tool_calls") or []
        for position, call in enumerate(calls):
            function = call.get("function") or {}
            self._call(call.get("index", position), function.get("name"), function.get("arguments"))
        return bool(text or reasoning or calls)

    def _block(self, index: int, block: "dict[str, Any]") -> bool:
        text, reasoning = block.get("text") or "", block.get("thinking") or ""
        self.row["text"] += text
        self.row["reasoning"] += reasoning
        if block.get("type") == "tool_use":
            self._call(index, block["name"], json.dumps(block["input"]) if block["input"] else "")
        elif "partial_json" in block:
            self._call(index, None, block["partial_json"])
        return bool(text or reasoning or block.get("partial_json"))

    def _call(self, index: int, name: "str | None", arguments: "str | None") -> None:
        call = self._open.setdefault(index, {"name": "", "arguments": ""})
        call["name"] += name or ""
        call["arguments"] += arguments or ""

    def _usage(self, usage: "dict[str, Any] | None") -> None:
        names = {"input_tokens": "prompt_tokens", "output_tokens": "completion_tokens"}
        for name, count in (usage or {}).items():
            if isinstance(count, int) and count:
                self.row["usage"] = {**self.row["usage"], names.get(name, name): count}


def data_of(line: str) -> Any:
    """The document of one ``data:`` line of an event stream; None on any other line."""
    data = line.removeprefix("data:").strip()
    return json.loads(data) if line.startswith("data:") and data != "[DONE]" else None


def ask(request: "dict[str, Any]", ask: "dict[str, Any]", key: str) -> Row:
    """Send one question; the row also says ``seconds`` and, in one line, ``error``."""
    started = time.monotonic()
    row: Row = {**EMPTY}
    error = None
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
    headers.update(request.get("headers") or {})
    body = json.dumps(ask["body"]).encode()
    message = urllib.request.Request(request["url"] + ask["path"], body, headers)
    answer = Answer()
    try:
        with urllib.request.urlopen(message, timeout=request["timeout_s"]) as reply:
            if ask["body"].get("stream"):
                for line in reply:
                    answer.event(data_of(line.decode().strip()) or {})
                row = answer.closed()
            else:
                row = answer.whole(json.load(reply))
    except urllib.error.HTTPError as reason:
        error = f"HTTP {reason.code}: {reason.read(300).decode(errors='replace')}"
    except (OSError, HTTPException, *NONSENSE) as reason:
        error = f"{type(reason).__name__}: {reason}"
    seconds = round(time.monotonic() - started, 2)
    return {**row, "name": ask["name"], "error": error, "seconds": seconds}


def ask_all(request: "dict[str, Any]") -> "list[Row]":
    """``answers_to`` with the key of a file; without one, every row says so."""
    try:
        key = read_key(request["key_file"])
    except (OSError, ValueError) as reason:
        lost = {**EMPTY, "error": f"no key: {reason}", "seconds": 0.0}
        return [{**lost, "name": one["name"]} for one in request["asks"]]
    return answers_to(request, key)


def answers_to(request: "dict[str, Any]", key: str) -> "list[Row]":
    """Rows of all questions, asked four at a time, in the order of the request."""
    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(lambda one: ask(request, one, key), request["asks"]))


if __name__ == "__main__":
    print(json.dumps(ask_all(json.loads(sys.argv[1]))))
