"""Clients that keep asking while something breaks: every request is answered, refused or lost."""

import json
import ssl
import threading
import time
from dataclasses import dataclass, field
from itertools import cycle
from types import TracebackType

import httpx

BOUND_S = 120.0
"""Longest that a client may be left without an answer and without an error."""
# Nothing here is https; httpx would read all of the system's certificates for every request.
NO_CERTIFICATES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


@dataclass(frozen=True)
class Request:
    """One request: when it began and ended (Unix time), and how."""

    began: float
    ended: float
    outcome: str  # "answered", "error: ..." or "lost: ..."


@dataclass
class Traffic:
    """Requests of some clients, every second one streamed, until the block ends."""

    url: str
    key: str
    clients: int = 2
    requests: list[Request] = field(default_factory=list)

    def __enter__(self) -> "Traffic":
        """Start, and wait for the first answer."""
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._keep_asking) for _ in range(self.clients)]
        for thread in self._threads:
            thread.start()
        deadline = time.monotonic() + BOUND_S
        while not self.with_outcome("answered"):
            assert time.monotonic() < deadline, f"nothing is answered: {self.requests[-3:]}"
            time.sleep(0.1)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Let the last requests end."""
        self._stop.set()
        for thread in self._threads:
            thread.join(BOUND_S + 10)

    def with_outcome(self, start: str) -> list[Request]:
        """Requests whose outcome starts with a word."""
        return [one for one in self.requests if one.outcome.startswith(start)]

    def _keep_asking(self) -> None:
        for kind in cycle((stream, whole)):
            if self._stop.is_set():
                break
            began = time.time()
            outcome = kind(self.url, self.key)
            self.requests.append(Request(began, time.time(), outcome))
            self._stop.wait(0.2 if outcome == "answered" else 2.0)


def stream(url: str, key: str) -> str:
    """Ask for a stream and say how it went."""
    body = {
        "model": "glm-5.2",
        "messages": [{"role": "user", "content": "What is 17 multiplied by 24?"}],
        "max_tokens": 32,
        "temperature": 0,
        "stream": True,
    }
    headers = {"Authorization": f"Bearer {key}"}
    began, said, finished = time.monotonic(), "", False
    try:
        with httpx.stream(
            "POST",
            f"{url}/v1/chat/completions",
            json=body,
            headers=headers,
            timeout=BOUND_S,
            verify=NO_CERTIFICATES,
        ) as answer:
            if answer.status_code != 200:
                return f"error: {answer.status_code}"
            for line in answer.iter_lines():
                if time.monotonic() - began > BOUND_S:
                    return f"lost: after {BOUND_S:g} s"
                if '"error"' in line:
                    return "error: in the stream"
                finished = finished or line == "data: [DONE]"
                said += text_of(line)
    except httpx.TimeoutException:
        return f"lost: nothing for {BOUND_S:g} s"
    except httpx.HTTPError as error:
        return f"error: {type(error).__name__}"
    if not finished or "408" not in said:
        return f"lost: the stream ended with {said!r}, finished {finished}"
    return "answered"


def whole(url: str, key: str) -> str:
    """Ask for an answer in one piece and say how it went."""
    try:
        answer = ask(url, key, "What is 17 multiplied by 24?", BOUND_S, max_tokens=32)
        if answer.status_code != 200:
            return f"error: {answer.status_code}"
        said = answer.json()["choices"][0]["message"]["content"]
    except httpx.TimeoutException:
        return f"lost: nothing for {BOUND_S:g} s"
    except (httpx.HTTPError, ValueError) as error:
        return f"error: {type(error).__name__}"
    return "answered" if said and "408" in said else f"lost: a wrong answer: {said!r}"


def text_of(line: str) -> str:
    """Text of one event of a stream."""
    if not line.startswith("data: {"):
        return ""
    choices = json.loads(line[6:])["choices"]
    return choices[0]["delta"].get("content") or "" if choices else ""


def ask(
    url: str, key: str, text: str, timeout_s: float, max_tokens: int = 16, **body: object
) -> httpx.Response:
    """Ask one question, not streamed."""
    messages = [{"role": "user", "content": text}]
    fixed = {"model": "glm-5.2", "messages": messages, "max_tokens": max_tokens, "temperature": 0}
    return httpx.post(
        f"{url}/v1/chat/completions",
        json={**fixed, **body},
        headers={"Authorization": f"Bearer {key}"},
        timeout=timeout_s,
        verify=NO_CERTIFICATES,
    )


def right_answer(url: str, key: str, timeout_s: float = 20) -> bool:
    """Whether one question is answered, and rightly."""
    try:
        answer = ask(url, key, "Reply with exactly: READY", timeout_s)
        said = answer.json()["choices"][0]["message"]["content"]
    except (httpx.HTTPError, ValueError, KeyError):
        return False
    return bool(said == "READY")
