"""What Ray, vLLM and LiteLLM are started with, read back from the rendered units and files."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from glmstead.inventory import load, settings_of
from glmstead.render import env_file, render
from glmstead.serving import (
    engine_environment,
    exec_line,
    gateway_config,
    ray_start,
    vllm_config,
)
from glmstead.settings import Settings

Of = Callable[[str], Settings]


@pytest.fixture
def settings_for_route(inventory_file: Callable[..., Path]) -> Of:
    """Settings of the first host of a route."""

    def of(route: str) -> Settings:
        return settings_of(load(inventory_file(route=route)))["@fake/h1"]

    return of


def test_json_arguments_survive_the_file_untouched(settings_for_route: Of) -> None:
    """vLLM reads nested values as JSON: no shell and no unit quotes them."""
    text = yaml.safe_dump(vllm_config(settings_for_route("lab"), layer_map="FFFSS"))
    read = yaml.safe_load(text)

    assert read["compilation-config"] == {"custom_ops": ["all", "-rotary_embedding"]}
    assert read["hf-overrides"] == {"index_topk_pattern": "FFFSS"}
    assert read["model"] == "/var/lib/glmstead/models/glm-nano"
    assert read["tensor-parallel-size"] == 2
    assert read["enable-auto-tool-choice"] is True


def test_g4_serves_with_the_flags_of_its_source(settings_for_route: Of) -> None:
    config = vllm_config(settings_for_route("g4"))

    assert config["tensor-parallel-size"] == 16
    assert config["distributed-executor-backend"] == "ray"
    assert config["max-model-len"] == 262144
    assert config["max-num-batched-tokens"] == 8192
    assert config["max-num-seqs"] == 8
    assert config["block-size"] == 64
    assert config["gpu-memory-utilization"] == 0.92
    assert config["load-format"] == "fastsafetensors"
    assert config["attention-backend"] == "TRITON_MLA"
    assert config["tool-call-parser"] == "glm47"
    assert config["host"] == "127.0.0.1"
    assert "hf-overrides" not in config


@pytest.mark.parametrize(
    "word", ["plain", 'with "quotes"', "50%", "$HOME", "a b", '{"k": ["v"]}', "back\\slash"]
)
def test_an_exec_line_is_read_back_by_systemd_s_rules(word: str) -> None:
    line = exec_line(["/bin/echo", word])

    undoubled = line.replace("%%", "%").replace("$$", "$")
    assert shlex.split(undoubled) == ["/bin/echo", word]


def test_the_vllm_unit_runs_the_arguments_file(settings_for_route: Of) -> None:
    command = exec_line(
        ["/opt/e/bin/python", "-m", "server", "--config", "/etc/glmstead/vllm.yaml"]
    )
    unit = render(
        "systemd/glmstead-vllm.service.j2",
        unit="glmstead-vllm",
        user="glmstead",
        nofile=65536,
        allow_from=["10.0.0.0/8"],
        ray_address="10.0.0.1:6380",
        **dict.fromkeys(
            ("may_start", "tidy", "wait_nodes", "wait_answer", "drain", "ended"), "/bin/true"
        ),
        command=command,
        start_timeout_s=2160,
        drain_timeout_s=60,
    )
    (started,) = re.findall(r"^ExecStart=(.*)$", unit, re.MULTILINE)

    assert shlex.split(started)[-2:] == ["--config", "/etc/glmstead/vllm.yaml"]
    assert "KillMode=mixed" in unit
    assert "IPAddressAllow=127.0.0.0/8 10.0.0.0/8" in unit
    assert "{" not in unit


def test_ray_is_bound_pinned_and_without_a_dashboard(settings_for_route: Of) -> None:
    settings = settings_for_route("g4")
    head, worker = ray_start(settings, None), ray_start(settings, "10.0.0.11")

    assert {"--head", "--block", "--port=6380", "--include-dashboard=false"} <= set(head)
    assert {"--block", "--address=10.0.0.11:6380", "--num-gpus=8"} <= set(worker)
    for words in (head, worker):
        assert f"--node-ip-address={settings.cluster.address}" in words
        for port in ("node-manager", "object-manager", "runtime-env-agent", "metrics-export"):
            assert any(word.startswith(f"--{port}-port=") for word in words), port


def test_interfaces_and_addresses_are_the_host_s_own(settings_for_route: Of) -> None:
    environment = engine_environment(settings_for_route("lab"))

    assert environment["VLLM_HOST_IP"] == settings_for_route("lab").cluster.address
    assert environment["GLOO_SOCKET_IFNAME"] == environment["NCCL_SOCKET_IFNAME"]
    assert "VLLM_ATTENTION_BACKEND" not in environment
    assert not any("TOKEN" in name and not name.endswith("_PATH") for name in environment)


def test_an_environment_file_keeps_every_character() -> None:
    text = env_file({"B": 'say "hi" $HOME \\ end', "A": "1"})

    assert text == 'A="1"\nB="say \\"hi\\" \\$HOME \\\\ end"\n'


def test_the_gateway_has_both_names_and_the_claude_ids(settings_for_route: Of) -> None:
    config = gateway_config(settings_for_route("lab"))
    assert config["router_settings"] == {"disable_cooldowns": True}
    thinking = {
        model["model_name"]: model["litellm_params"]["extra_body"]["chat_template_kwargs"]
        for model in config["model_list"]
    }

    assert thinking["glm-5.2"] == {"enable_thinking": False}
    assert thinking["glm-5.2-thinking"] == {"enable_thinking": True}
    assert thinking["claude-sonnet-4-5"] == {"enable_thinking": False}
    assert config["general_settings"]["master_key"] == "os.environ/LITELLM_MASTER_KEY"
