"""Opens streams and aborts them in bursts beside steady requests; standard library only.

Runs on the head against vLLM itself. Usage: abort_client.py BURSTS STREAMS_A_BURST
Prints one JSON line: aborted, steady (answers beside the bursts), wrong, slowest_s, idle.
"""

import json
import random
import re
import sys
import threading
import time
import urllib.request

URL = "http://127.0.0.1:8000"
GAUGE = re.compile(
    r"^vllm:(num_requests_running|num_requests_waiting|kv_cache_usage_perc)\{[^}]*\} (\S+)", re.M
)


def opened(text: str, stream: bool, max_tokens: int):  # type: ignore[no-untyped-def]
    body = {
        "model": "glm-5.2",
        "messages": [{"role": "user", "content": text}],
        "max_tokens": max_tokens,
        "temperature": 0,
        "stream": stream,
        "ignore_eos": stream,
        "chat_template_kwargs": {"enable_thinking": False},
    }
    request = urllib.request.Request(
        f"{URL}/v1/chat/completions",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    return urllib.request.urlopen(request, timeout=120)


def abort_one(rng: random.Random) -> None:
    """Close a stream after a random number of its lines, often before the first."""
    with opened(f"Hello {rng.random()}", stream=True, max_tokens=256) as stream:
        for _ in range(rng.choice((0, 0, 1, 2, 5))):
            stream.readline()


def steadily(done: threading.Event, rows: "list[tuple[bool, float]]") -> None:
    while not done.is_set():
        started = time.monotonic()
        with opened("What is 17 multiplied by 24?", stream=False, max_tokens=32) as answer:
            text = json.load(answer)["choices"][0]["message"]["content"]
        rows.append((text == "17 multiplied by 24 is 408.", time.monotonic() - started))


def gauges() -> "dict[str, float]":
    text = urllib.request.urlopen(f"{URL}/metrics", timeout=30).read().decode()
    return {name: float(value) for name, value in GAUGE.findall(text)}


def main(bursts: int, streams: int) -> None:
    rng, done = random.Random(7), threading.Event()
    rows: list[tuple[bool, float]] = []
    steady = threading.Thread(target=steadily, args=(done, rows))
    steady.start()
    for _ in range(bursts):
        burst = [threading.Thread(target=abort_one, args=(rng,)) for _ in range(streams)]
        for thread in burst:
            thread.start()
        for thread in burst:
            thread.join(150)
    done.set()
    steady.join(150)
    deadline = time.monotonic() + 60
    while any(gauges().values()) and time.monotonic() < deadline:
        time.sleep(0.2)
    summary = {
        "aborted": bursts * streams,
        "steady": len(rows),
        "wrong": sum(not right for right, _ in rows),
        "slowest_s": round(max(seconds for _, seconds in rows), 1),
        "hanging": threading.active_count() - 1,
        "idle": gauges(),
    }
    print(json.dumps(summary))


main(*map(int, sys.argv[1:]))
