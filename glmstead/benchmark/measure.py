"""Runs ``vllm bench serve`` on the endpoint's host, point after point."""

import json
import shlex
import subprocess
import tempfile
from collections.abc import Iterator
from typing import IO, Any

from glmstead import ROOT, places
from glmstead.benchmark.points import Point
from glmstead.commands.endpoint import Live
from glmstead.commands.plan import Refusal
from glmstead.commands.tunnel import ssh_words
from glmstead.serving import gateway_url


def measured(
    found: Live, points: list[Point], requests: int, repeats: int
) -> Iterator[tuple[Point, list[dict[str, Any]]]]:
    """Yield each point with the results of its repeats; raises Refusal where they end early."""
    asked = [{"words": words(found, point, requests), "repeats": repeats} for point in points]
    with tempfile.TemporaryFile("w+") as said:
        process = _started(found, {"points": asked, "key": found.state["key"]}, said)
        try:
            for point, line in zip(points, process.stdout or (), strict=False):
                yield point, json.loads(line)
            status = process.wait()
        finally:
            process.kill()  # the program on the host ends with its stdin
        if status:
            said.seek(0)
            last = (said.read().strip().splitlines() or ["?"])[-1][:300]
            raise Refusal(f"{found.name}: the benchmark ended early: {last}")


def _started(found: Live, request: dict[str, Any], said: IO[str]) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    process = subprocess.Popen(command(found), stdin=pipe, stdout=pipe, stderr=said, text=True)
    if process.stdin:
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
    return process


def command(found: Live) -> list[str]:
    """The words that run the measuring program on the host, as the service user."""
    source = (ROOT / "glmstead" / "probes" / "bench.py").read_text()
    settings = found.settings
    program = [
        *("runuser", "-u", settings.system.user, "--", "env", f"HOME={places.CACHE}"),
        *("HF_HUB_OFFLINE=1", "VLLM_NO_USAGE_STATS=1"),
        *(f"{settings.engine.root}/bin/python", "-c", source),
    ]
    if found.data.get("_sudo"):
        program = ["sudo", "-n", *program]
    if "@local" in found.name:
        return program
    ssh = [word for word in ssh_words(found.name, found.data) if word != "-N"]
    return [*ssh, shlex.join(program)]


def words(found: Live, point: Point, requests: int) -> list[str]:
    """The arguments of ``vllm bench serve`` for a point."""
    settings = found.settings
    direct = f"http://127.0.0.1:{settings.vllm.port}"
    url = direct if point.via == "direct" else gateway_url(settings)
    body = {"chat_template_kwargs": {"enable_thinking": False}}
    arguments = {
        "backend": "openai-chat",
        "endpoint": "/v1/chat/completions",
        "base-url": url,
        "model": settings.vllm.served_model_name,
        "tokenizer": settings.model.path,
        "dataset-name": "random",
        "random-input-len": point.input_tokens,
        "random-output-len": point.output_tokens,
        "num-prompts": max(4, point.streams * requests),
        "max-concurrency": point.streams,
        "num-warmups": min(point.streams, 4),
        "percentile-metrics": "ttft,tpot,itl,e2el",
        "metric-percentiles": "50,99",
        "temperature": 0,
        "extra-body": json.dumps(body),
    }
    flags = ["--ignore-eos", "--disable-tqdm"]
    return [*(part for k, v in arguments.items() for part in (f"--{k}", str(v))), *flags]
