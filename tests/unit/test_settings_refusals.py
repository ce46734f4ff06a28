"""Each refusal of one host's data, in its exact words: host, key, value, what is wrong, fix."""

from pathlib import Path

import pytest
from pyinfra.api.state import State
from pyinfra.context import ctx_state
from pyinfra_cli.inventory import make_inventory_from_files  # type: ignore[import-untyped]

from glmstead import ROOT
from glmstead.inventory import InventoryError, load, settings_of
from glmstead.settings.load import known_routes
from tests.unit.conftest import Data, Inventories, Refusals

REFUSED: dict[str, tuple[Data, str]] = {
    "unknown key": (
        {"vllm_prot": 8000},
        "vllm_prot: 8000: unknown setting; fix: did you mean vllm_port?",
    ),
    "unlike any key": (
        {"colour": "red"},
        'colour: "red": unknown setting; fix: remove it; docs/settings.md lists every key',
    ),
    "connector key": (
        {"ssh_keyfile": "~/.ssh/id"},
        'ssh_keyfile: "~/.ssh/id": unknown setting; fix: did you mean ssh_key?',
    ),
    "unlike any key of its prefix": (
        {"nccl_debug_subsystem_log": 1},
        "nccl_debug_subsystem_log: 1: unknown setting; "
        "fix: use one of nccl_env, nccl_socket_interfaces, nccl_trial_limit_s, nccl_trial_port",
    ),
    "a secret is not shown": (
        {"ssh_pasword": "hunter2", "hub_token": "hf_1234"},
        "ssh_pasword: ***: unknown setting; fix: did you mean ssh_password?",
    ),
    "global argument": (
        {"_sudo": "no"},
        '_sudo: "no": must be bool; fix: give pyinfra\'s _sudo a bool',
    ),
    "wrong type": (
        {"vllm_port": "8000"},
        'vllm_port: "8000": must be a valid integer; fix: give the port on loopback, such as 8000',
    ),
    "out of range": (
        {"gateway_port": 80},
        "gateway_port: 80: must be greater than or equal to 1024; "
        "fix: give the port of the gateway, such as 4000",
    ),
    "one of several": (
        {"vllm_kv_cache_dtype": "fp4"},
        "vllm_kv_cache_dtype: \"fp4\": must be 'auto', 'fp8' or 'bfloat16'; "
        "fix: give the KV cache type, such as 'auto'",
    ),
    "no release": (
        {"engine_version": "latest"},
        'engine_version: "latest": not a release; fix: give the pinned vLLM, as in the lock, '
        "or the image's",
    ),
    "entry of a mapping": (
        {"engine_env": {"OMP_NUM_THREADS": 24}},
        "engine_env.OMP_NUM_THREADS: 24: must be a valid string; "
        "fix: give the environment of Ray and vLLM",
    ),
    "environment in a folder of the system": (
        {"engine_root": "/usr/local"},
        'engine_root: "/usr/local": a folder of the system, of which everything would be '
        "replaced; fix: give the virtual environment, such as '/opt/glmstead/engine'",
    ),
    "environment in a folder that holds others": (
        {"gateway_root": "/opt"},
        'gateway_root: "/opt": a folder of the system, of which everything would be '
        "replaced; fix: give the virtual environment, such as '/opt/glmstead/gateway'",
    ),
    "environment by way of another folder": (
        {"engine_root": "/opt/glmstead/../"},
        'engine_root: "/opt/glmstead/../": not a plain path; '
        "fix: give the virtual environment, such as '/opt/glmstead/engine'",
    ),
    "services as root": (
        {"system_user": "root"},
        'system_user: "root": the services never run as root, and the user gets no login shell; '
        "fix: give the service user, such as 'glmstead'",
    ),
    "no address to listen on": (
        {"gateway_bind": "eth0"},
        'gateway_bind: "eth0": not an IP address; '
        "fix: give the address the gateway listens on, such as '0.0.0.0'",
    ),
    "not of the right form": (
        {"cluster_interface": "ens4,ens5"},
        'cluster_interface: "ens4,ens5": not of the right form; '
        "fix: give the interface of that address; Gloo takes exactly one",
    ),
}


@pytest.mark.parametrize(("data", "line"), REFUSED.values(), ids=REFUSED)
def test_bad_data_is_refused_in_one_line(refusals: Refusals, data: Data, line: str) -> None:
    assert refusals(hosts=1, data=data)[0] == f"@fake/h1: {line}"


def test_no_secret_reaches_the_message(refusals: Refusals) -> None:
    lines = "\n".join(refusals(hosts=1, data={"ssh_pasword": "hunter2", "hub_token": "hf_1234"}))

    assert "hunter2" not in lines
    assert "hf_1234" not in lines


def test_a_password_in_an_address_is_not_shown(refusals: Refusals) -> None:
    data = {"engine_index_url": "https://me:hunter2@example.org/simple"}

    assert refusals(hosts=1, data=data) == [
        '@fake/h1: engine_index_url: "https://***@example.org/simple": '
        "an index, but engine_offline is set; fix: remove one of the two"
    ]


def test_every_problem_of_every_host_is_told_at_once(refusals: Refusals) -> None:
    lines = refusals(first={"vllm_prot": 1, "vlm_port": 2}, second={"ray_prt": 3})

    assert [line.split(":")[:2] for line in lines] == [
        ["@fake/h1", " vllm_prot"],
        ["@fake/h1", " vlm_port"],
        ["@fake/h2", " ray_prt"],
    ]


def test_a_missing_key_says_where_it_belongs(tmp_path: Path) -> None:
    path = tmp_path / "fleet.py"
    path.write_text(
        'lab = [("@fake/h1", {"cluster_address": "10.0.0.1"})]\n'
        'head = ["@fake/h1"]\ngateway = ["@fake/h1"]\n'
    )

    with pytest.raises(InventoryError) as refused:
        settings_of(load(path))

    assert str(refused.value) == (
        "@fake/h1: cluster_interface: not set: a value is needed; "
        "fix: set it beside the host: interface of that address; Gloo takes exactly one"
    )


def test_a_host_in_no_route_is_refused(refusals: Refusals) -> None:
    assert refusals(hosts=1, route="nowhere") == [
        '@fake/h1: groups: ["fleet", "gateway", "head", "nowhere"]: '
        f"in no route; fix: put the host in exactly one of {_routes()}"
    ]


def test_a_host_in_two_routes_is_refused(refusals: Refusals) -> None:
    assert refusals(hosts=1, route="lab", name="g4") == [
        '@fake/h1: groups: ["g4", "gateway", "head", "lab"]: '
        "in routes g4 and lab (the inventory's file name is a group too); "
        f"fix: put the host in exactly one of {_routes()}, in a file that is named like none of them"
    ]


def test_a_key_that_a_group_would_override_by_surprise_is_refused(
    inventory_file: Inventories, tmp_path: Path
) -> None:
    (tmp_path / "group_data").mkdir()
    (tmp_path / "group_data" / "worker.py").write_text("vllm_max_num_seqs = 2\n")

    with pytest.raises(InventoryError) as refused:
        settings_of(load(inventory_file()))

    assert str(refused.value) == (
        "@fake/h2: vllm_max_num_seqs: 2: also set in group_data/lab.py, "
        "to another value than in worker.py; fix: keep it in one of them"
    )


def test_without_group_data_the_way_to_it_is_told(
    inventory_file: Inventories, tmp_path: Path
) -> None:
    with ctx_state.use(State()):
        inventory = make_inventory_from_files(str(inventory_file(hosts=1)), cwd=str(tmp_path))

    with pytest.raises(InventoryError) as refused:
        settings_of(inventory)

    assert str(refused.value) == (
        "@fake/h1: group_data: not set: group_data not found; fix: "
        f"run from {ROOT}, use glmstead deploy, or add --group-data {ROOT}/group_data"
    )


def test_ranks_that_would_disagree_are_refused(refusals: Refusals) -> None:
    assert refusals(second={"vllm_max_model_len": 4096}) == [
        "@fake/h2: vllm_max_model_len: 4096: @fake/h1 has 8192, and ranks must agree; "
        "fix: set it for the whole route"
    ]


def _routes() -> str:
    return ", ".join(sorted(known_routes()))
