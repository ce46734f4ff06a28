"""Each route's final command line and environment, token by token against its public source.

What differs is named, with the reason; a token that changes unnoticed fails here.
"""

import json
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from glmstead.containers import (
    apptainer_run,
    container_env_file,
    container_environment,
    docker_run,
    image_reference,
    server_words,
)
from glmstead.inventory import load, settings_of
from glmstead.operations.container_unit import unit_files
from glmstead.serving import engine_environment, vllm_config
from glmstead.settings import Settings
from tasks.single import around
from tests.image_samples import TAR
from tests.overlay_samples import stand_in
from tests.unit.conftest import Inventories

PATTERN = "FFF" + "SSSF" * 18 + "SSS"
COMMIT = {"model_revision": "a" * 40}
Of = Callable[..., Settings]


@pytest.fixture
def of(inventory_file: Inventories) -> Of:
    """Settings of the only host of a route, with commits that a site would choose."""

    def settings(route: str, **data: Any) -> Settings:
        path: Path = inventory_file(
            hosts=1,
            route=route,
            name=f"one_{route}_{len(data)}",
            data={**COMMIT, **data},
            worker=[],
        )
        return settings_of(load(path))["@fake/h1"]

    return settings


def flags(words: list[str]) -> dict[str, Any]:
    """Flags with their values: None for a switch, JSON read, several words a list."""
    found: dict[str, list[str]] = {}
    for word in words:
        if word.startswith("-"):
            name, equals, value = word.partition("=")
            last = found.setdefault(name, [])
            last += [value] if equals else []
        else:
            last.append(word)
    return {name: _value(values) for name, values in found.items()}


def _value(values: list[str]) -> Any:
    if not values:
        return None
    if len(values) > 1:
        return values
    return json.loads(values[0]) if values[0].startswith("{") else values[0]


def differences(ours: dict[str, Any], source: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """``{token: (ours, source)}``; ABSENT where one side lacks it."""
    names = {*ours, *source}
    return {
        name: (ours.get(name, ABSENT), source.get(name, ABSENT))
        for name in names
        if ours.get(name, ABSENT) != source.get(name, ABSENT)
    }


ABSENT = "absent"
# 0xSero/glm-5.2-sm120, launch.sh and .env.example of 2026-06-19
B12X4 = shlex.split("""
--served-model-name glm-5.2 GLM-5.2-NVFP4-REAP-469B GLM-5.2 --trust-remote-code --host 0.0.0.0
--port 8000 --tensor-parallel-size 4 --pipeline-parallel-size 1 --decode-context-parallel-size 4
--enable-chunked-prefill --enable-prefix-caching --load-format fastsafetensors --async-scheduling
-cc.pass_config.fuse_allreduce_rms=True --gpu-memory-utilization 0.95
--max-num-batched-tokens 8192 --max-num-seqs 2 --max-cudagraph-capture-size 8
--max-model-len 250000 --quantization modelopt_fp4 --attention-backend B12X_MLA_SPARSE
--moe-backend b12x --kv-cache-dtype fp8 --tool-call-parser glm47 --enable-auto-tool-choice
--reasoning-parser glm45 --chat-template /recipe/chat_template.think.jinja
""")
B12X4_JSON: dict[str, dict[str, Any]] = {
    "--hf-overrides": {"index_topk_pattern": PATTERN},
    "--speculative-config": {
        "model": "/mnt/llm_models/GLM-5.2-NVFP4-REAP-469B",
        "method": "mtp",
        "num_speculative_tokens": 3,
        "moe_backend": "b12x",
        "draft_sample_method": "probabilistic",
    },
}
B12X4_ENV = shlex.split("""
CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=0,1,2,3 OMP_NUM_THREADS=16
CUTE_DSL_ARCH=sm_120a CUDA_DEVICE_MAX_CONNECTIONS=32 NCCL_P2P_LEVEL=SYS NCCL_P2P_DISABLE=1
NCCL_SHM_DISABLE=0 NCCL_PROTO=LL,LL128,Simple NCCL_IB_DISABLE=1 USE_NCCL_XML=0
NCCL_GRAPH_FILE=/dev/null NCCL_GRAPH_DUMP_FILE= PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True
SAFETENSORS_FAST_GPU=1 VLLM_WORKER_MULTIPROC_METHOD=spawn VLLM_USE_B12X_SPARSE_INDEXER=1
VLLM_USE_B12X_MOE=1 VLLM_USE_V2_MODEL_RUNNER=1 VLLM_USE_FLASHINFER_SAMPLER=1
VLLM_USE_B12X_FP8_GEMM=1 VLLM_ENABLE_PCIE_ALLREDUCE=0 VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS=0
VLLM_DISABLED_KERNELS=MarlinFP8ScaledMMLinearKernel USES_B12X=True B12X_DENSE_SPLITK_TURBO=1
B12X_W4A16_TC_DECODE=1 B12X_MOE_FORCE_A16=1 XDG_CACHE_HOME=/cache/jit CUDA_CACHE_PATH=/cache/jit
VLLM_CACHE_DIR=/cache/jit/vllm TVM_FFI_CACHE_DIR=/cache/jit/tvm-ffi
FLASHINFER_WORKSPACE_BASE=/cache/jit/flashinfer VLLM_CACHE_ROOT=/root/.cache/vllm
TRITON_CACHE_DIR=/root/.cache/triton TORCHINDUCTOR_CACHE_DIR=/root/.cache/torchinductor
TORCH_EXTENSIONS_DIR=/cache/jit/torch_extensions CUTE_DSL_CACHE_DIR=/root/.cache/cutlass_dsl
""")
OURS = "/var/lib/glmstead/models/GLM-5.2-NVFP4-REAP-469B"
TEMPLATE = "/run/glmstead/glmstead-vllm/chat_template.jinja"


def test_the_map_of_the_sources_is_spelt_out() -> None:
    assert (len(PATTERN), PATTERN.count("F"), PATTERN.count("S")) == (78, 21, 57)


def test_b12x4_serves_with_the_words_of_its_source(of: Of) -> None:
    words = server_words(of("b12x4"), PATTERN)
    command, ours = words[:10], flags(words[10:])

    assert command == [
        *("env", "-u", "NCCL_GRAPH_FILE", "-u", "NCCL_GRAPH_DUMP_FILE"),
        *("-u", "VLLM_B12X_MLA_EXTEND_MAX_CHUNKS", "/opt/venv/bin/vllm", "serve", OURS),
    ]
    draft = B12X4_JSON["--speculative-config"]
    assert differences(ours, {**flags(B12X4), **B12X4_JSON}) == {
        "--host": ("127.0.0.1", "0.0.0.0"),  # the gateway holds the key and faces people
        # the same pass, as one JSON argument
        "-cc.pass_config.fuse_allreduce_rms": (ABSENT, "True"),
        "--compilation-config": ({"pass_config": {"fuse_allreduce_rms": True}}, ABSENT),
        # made at each start of the checkpoint's own, with the same default effort
        "--chat-template": (TEMPLATE, "/recipe/chat_template.think.jinja"),
        "--speculative-config": ({**draft, "model": OURS}, draft),  # where models live
    }


def test_b12x4_has_the_environment_of_its_source(of: Of) -> None:
    source = dict(pair.split("=", 1) for pair in B12X4_ENV)

    assert differences(container_environment(of("b12x4")), source) == {
        # The source sets both and unsets them in its entry; here they are never set, and what the
        # image sets is removed by env -u.
        "NCCL_GRAPH_FILE": (ABSENT, "/dev/null"),
        "NCCL_GRAPH_DUMP_FILE": (ABSENT, ""),
        "USE_NCCL_XML": (ABSENT, "0"),  # asks for the graph file that is not given
        "HF_HUB_OFFLINE": ("1", ABSENT),  # the checkpoint is verified before the start
        "VLLM_NO_USAGE_STATS": ("1", ABSENT),
        # vLLM gives up at 600 s by itself; the source's later start finds what was compiled
        "VLLM_ENGINE_READY_TIMEOUT_S": ("2400", ABSENT),
    }


def test_b12x4_runs_its_container_as_its_source_but_restarts_and_rights(of: Of) -> None:
    settings = of("b12x4")
    words = docker_run(settings, image_reference(settings), server_words(settings, PATTERN))
    end = next(at for at, word in enumerate(words) if word.startswith("voipmonitor/"))
    source = shlex.split("""--log-opt=max-size=100m --log-opt=max-file=5 --gpus=all --ipc=host --shm-size=32g
      --network=host --privileged --restart=unless-stopped --ulimit=memlock=-1
      --ulimit=stack=67108864""")

    ours = words[2:end]
    assert sorted(set(source) - set(ours)) == [
        "--gpus=all",  # devices by CDI, which a daemon-reload does not take away
        "--ipc=host",  # its own /dev/shm: gone with it, and --shm-size has an effect
        "--privileged",  # one capability instead
        "--restart=unless-stopped",  # systemd alone restarts
        "--shm-size=32g",
    ]
    assert sorted(set(ours) - set(source)) == [
        "--cap-add=SYS_NICE",
        "--cgroup-parent=glmstead-engine.slice",
        "--device=nvidia.com/gpu=all",
        "--entrypoint=env",
        "--env-file=/etc/glmstead/engine.env",
        "--env-file=/etc/glmstead/nccl.env",  # measured, less what is declared
        "--log-driver=json-file",
        "--name=glmstead-vllm",
        "--pull=never",
        f"--shm-size={32 * 2**30}",
        "--ulimit=nofile=1048576",  # a newer containerd leaves 1024
        "--volume=/run/glmstead/glmstead-vllm/chat_template.jinja:"
        "/run/glmstead/glmstead-vllm/chat_template.jinja:ro",
        "--volume=/var/cache/glmstead/image/cache/jit:/cache/jit",
        "--volume=/var/cache/glmstead/image/root/.cache:/root/.cache",
        f"--volume={OURS}:{OURS}:ro",
    ]
    assert words[end] == (
        "voipmonitor/vllm@sha256:ce23a9b075bd7138ce3b12ee29609b98606e5050e2def4a29bbb917ad96e5997"
    )


def test_b12x4_without_thinking_takes_parser_and_template(of: Of) -> None:
    thinking = flags(server_words(of("b12x4"), PATTERN)[10:])
    at_once = flags(server_words(of("b12x4", vllm_thinking=False), PATTERN)[10:])

    assert differences(at_once, thinking) == {"--reasoning-parser": (ABSENT, "glm45")}


def test_b12x4_fast_is_its_source_s_small_profile(of: Of) -> None:
    fast = flags(server_words(of("b12x4_fast"), PATTERN)[10:])

    assert differences(fast, flags(server_words(of("b12x4"), PATTERN)[10:])) == {
        "--decode-context-parallel-size": ("1", "4"),
        "--max-model-len": ("131072", "250000"),
    }


def test_b12x8_differs_from_b12x4_in_size_only(of: Of) -> None:
    ours, four = (flags(server_words(of(route), PATTERN)[10:]) for route in ("b12x8", "b12x4"))
    draft = B12X4_JSON["--speculative-config"]
    model = "/var/lib/glmstead/models/GLM-5.2-504B"

    assert differences(ours, four) == {
        "--served-model-name": (
            ["glm-5.2", "GLM-5.2-504B", "GLM-5.2"],
            ["glm-5.2", "GLM-5.2-NVFP4-REAP-469B", "GLM-5.2"],
        ),
        "--tensor-parallel-size": ("8", "4"),
        "--decode-context-parallel-size": ("8", "4"),
        "--max-num-seqs": ("8", "2"),
        "--max-cudagraph-capture-size": ("32", "8"),
        "--speculative-config": ({**draft, "model": model}, {**draft, "model": OURS}),
    }
    env = container_environment(of("b12x8"))
    assert differences(env, container_environment(of("b12x4"))) == {
        "CUDA_VISIBLE_DEVICES": ("0,1,2,3,4,5,6,7", "0,1,2,3")
    }


CHOSEN: dict[str, dict[str, Any]] = {
    "a100": {},
    "a100_git": {"git_commit": "b" * 40, "git_pick_commit": "c" * 40},
    "a100_docker": {"image_base_digest": "sha256:" + "3" * 64},
}
# the gist "GLM-5.2-on-8xA100-vLLM" of 2026-06-20
A100 = {
    "tensor-parallel-size": 8,
    "no-async-scheduling": True,
    "gpu-memory-utilization": 0.90,
    "max-model-len": 32768,
    "trust-remote-code": True,
    "kv-cache-dtype": "auto",
    "port": 8000,
}


@pytest.mark.parametrize("route", ["a100", "a100_git", "a100_docker"])
def test_a100_serves_with_the_words_of_its_source(route: str, of: Of, tmp_path: Path) -> None:
    ours = vllm_config(of(route, **CHOSEN[route], **stand_in(tmp_path)))

    executor = {} if route == "a100_docker" else {"distributed-executor-backend": ("mp", ABSENT)}
    assert differences(ours, {"model": "cyankiwi/GLM-5.2-AWQ-INT4", **A100}) == {
        "model": ("/var/lib/glmstead/models/GLM-5.2-AWQ-INT4", "cyankiwi/GLM-5.2-AWQ-INT4"),
        "host": ("127.0.0.1", ABSENT),
        "served-model-name": ("glm-5.2", ABSENT),
        "pipeline-parallel-size": (1, ABSENT),  # its default
        **executor,  # its default on one host
        "max-num-seqs": (32, ABSENT),  # the most that was measured
        # The source sets VLLM_ATTENTION_BACKEND, which no release since 0.15 reads.
        "attention-backend": ("TRITON_MLA_SPARSE", ABSENT),
        "enable-auto-tool-choice": (True, ABSENT),
        "tool-call-parser": ("glm47", ABSENT),
        "reasoning-parser": ("glm45", ABSENT),
    }


@pytest.mark.parametrize("route", ["b12x4", "b12x8", "a100_dense"])
def test_vllm_itself_waits_as_long_as_the_unit(route: str, of: Of) -> None:
    settings = of(route)

    waits = settings.engine.env["VLLM_ENGINE_READY_TIMEOUT_S"]
    assert int(waits) >= settings.vllm.load_timeout_s


def test_a100_has_no_ray_and_no_dead_variable(of: Of, tmp_path: Path) -> None:
    env = engine_environment(of("a100", **stand_in(tmp_path)))

    assert [name for name in env if name.startswith("RAY")] == []
    assert "VLLM_ATTENTION_BACKEND" not in env
    assert env["CUDA_VISIBLE_DEVICES"] == "0,1,2,3,4,5,6,7"


def test_a100_dense_needs_nothing_unreleased(of: Of) -> None:
    settings = of("a100_dense")

    assert vllm_config(settings)["attention-backend"] == "TRITON_MLA"
    assert settings.patches.tags == (
        "DENSE_FALLBACK",
        "ABORT_RACE_FIX",
        "FD_EXCHANGE_ANNOTATIONS",
    )
    assert (settings.engine.version, settings.overlay.name) == ("0.28.0", None)


@pytest.mark.parametrize(
    ("profile", "changed"),
    [
        (
            "g4_throughput",
            {
                "tensor-parallel-size": (8, 16),
                "pipeline-parallel-size": (2, 1),
                "max-num-seqs": (64, 8),
                "max-model-len": (131072, 262144),
            },
        ),
        (
            "g4_newer",
            {
                "model-class-overrides": (
                    {
                        "GlmMoeDsaForCausalLM": (
                            "vllm.model_executor.models.deepseek_v2:GlmMoeDsaForCausalLM"
                        )
                    },
                    ABSENT,
                )
            },
        ),
    ],
)
def test_profiles_of_g4_change_what_they_say(
    profile: str, changed: dict[str, Any], inventory_file: Inventories
) -> None:
    ours, g4 = (
        vllm_config(settings_of(load(inventory_file(route=route, name=route)))["@fake/h1"])
        for route in (profile, "g4")
    )

    assert differences(ours, g4) == changed


@pytest.mark.parametrize("runtime", ["docker", "apptainer"])
def test_variables_reach_the_container_as_they_are(runtime: str, of: Of) -> None:
    """Docker takes a line raw; Apptainer has a shell evaluate the file."""
    hard = "a b $HOME ; 'c' \\ \"d\""
    settings = of("a100_docker", **TAR, container_runtime=runtime, engine_env={"HARD": hard})
    text = container_env_file(settings)
    shell = subprocess.run(["sh", "-c", f'{text}printf %s "$HARD"'], capture_output=True, text=True)

    found = shell.stdout if runtime == "apptainer" else dict(_pairs(text))["HARD"]
    assert found == hard


def _pairs(text: str) -> list[list[str]]:
    return [line.split("=", 1) for line in text.splitlines()]


@pytest.mark.parametrize(
    ("runtime", "of_the_unit"),
    [
        ("docker", ["LimitMEMLOCK=infinity"]),  # and the container's own, compared above
        ("apptainer", ["LimitMEMLOCK=infinity", "LimitSTACK=67108864"]),
    ],
)
def test_what_apptainer_starts_has_the_limits_of_the_unit(
    runtime: str, of_the_unit: list[str], of: Of
) -> None:
    settings = of("a100_docker", **TAR, container_runtime=runtime)
    _, unit = unit_files(settings, "engine", around(settings))

    lines = unit.text.splitlines()
    assert [one for one in lines if one.startswith(("LimitM", "LimitS"))] == of_the_unit


def test_apptainer_runs_the_same_words(of: Of) -> None:
    """Not run anywhere here: options as in apptainer-exec(1)."""
    settings = of("a100_docker", **TAR, container_runtime="apptainer")
    words = server_words(settings, None)
    model = "/var/lib/glmstead/models/GLM-5.2-AWQ-INT4"

    assert apptainer_run(settings, "/var/lib/glmstead/images/2.sif", words) == [
        *("/usr/bin/apptainer", "exec", "--compat", "--nv"),
        "--env-file=/etc/glmstead/engine.env",
        f"--bind={model}:{model}:ro",
        "--bind=/var/cache/glmstead/image/root/.cache:/root/.cache",
        "/var/lib/glmstead/images/2.sif",
        *words,
    ]
    assert words[:3] == ["vllm", "serve", model]
