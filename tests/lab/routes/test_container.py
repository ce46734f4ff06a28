"""Route b12x4 on a real host with real Docker: unit, restarts, drift, switches, refusals, reboot."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.lab.conftest import Deployed
from tests.lab.routes.conftest import HOST, REPOSITORY, Inventories, fetch

pytestmark = pytest.mark.lab
UNIT = "/etc/systemd/system/glmstead-vllm.service"
Deploy = Callable[..., dict[str, list[str]]]


@pytest.fixture
def route(inventory: Inventories, digests: list[tuple[str, str]]) -> Callable[..., Path]:
    """An inventory of the route with version 1 of the image, unless data say otherwise."""

    def write(**data: Any) -> Path:
        image = {"image_name": REPOSITORY, "image_tag": "1", "image_digest": digests[0][0]}
        return inventory("b12x4", **{**image, **data})

    return write


@pytest.fixture
def deploy(lab: Deployed, route: Callable[..., Path]) -> Deploy:
    """Deploy the route; what changed."""
    return lambda **data: lab.deploy(route(**data))


def refusal(lab: Deployed, path: Path) -> str:
    done = lab.run("pyinfra", "-y", path, "deploy.py", timeout_s=300)
    assert done.returncode == 1
    return done.stdout + done.stderr


def seen(lab: Deployed) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(lab.ssh(HOST, "curl -sS http://127.0.0.1:8000/seen"))
    return answer


def started(lab: Deployed) -> str:
    return lab.ssh(HOST, "systemctl show -P InvocationID glmstead-vllm")


def container(lab: Deployed, form: str) -> str:
    return lab.ssh(HOST, f"docker inspect -f '{form}' glmstead-vllm")


def until_answers(lab: Deployed, bound_s: float = 90, units: str = "glmstead-vllm") -> None:
    deadline = time.monotonic() + bound_s
    while {*lab.ssh(HOST, f"systemctl is-active {units} || true").split()} != {"active"}:
        assert time.monotonic() < deadline, lab.ssh(HOST, "journalctl -n 30 -u glmstead-vllm")
        time.sleep(0.5)


def test_a_bare_host_serves_from_the_pinned_image(
    lab: Deployed, deploy: Deploy, digests: list[tuple[str, str]]
) -> None:
    deploy()
    found = seen(lab)
    words = found["words"]

    assert container(lab, "{{.Config.Image}}") == f"{REPOSITORY}@{digests[0][0]}"
    assert words[:2] == ["serve", "/var/lib/glmstead/models/glm-nano"]
    assert words[words.index("--host") + 1] == "127.0.0.1"
    overrides = json.loads(words[words.index("--hf-overrides") + 1])
    assert set(overrides["index_topk_pattern"]) == {"F", "S"}
    assert "NCCL_GRAPH_FILE" not in found["environment"]
    assert "VLLM_B12X_MLA_EXTEND_MAX_CHUNKS" not in found["environment"]
    assert found["environment"]["NCCL_PROTO"] == "LL,LL128,Simple"


def test_the_container_is_bounded_and_alone(lab: Deployed) -> None:
    assert container(lab, "{{.HostConfig.Privileged}}") == "false"
    assert container(lab, "{{.HostConfig.RestartPolicy.Name}}") == "no"
    assert container(lab, "{{.HostConfig.LogConfig.Type}} {{.HostConfig.LogConfig.Config}}") == (
        "json-file map[max-file:5 max-size:100m]"
    )
    assert container(lab, "{{.HostConfig.ShmSize}}") == str(int(0.1 * 2**30))
    mounts = container(lab, "{{range .Mounts}}{{.Destination}}={{.RW}} {{end}}").split()
    assert {"/cache/jit=true", "/var/lib/glmstead/models/glm-nano=false"} <= {*mounts}
    assert container(lab, "{{.HostConfig.CgroupParent}}") == "glmstead-engine.slice"
    assert lab.ssh(HOST, "systemctl is-enabled glmstead-vllm") == "enabled"


def test_a_second_run_changes_nothing_and_restarts_nothing(lab: Deployed, deploy: Deploy) -> None:
    before = started(lab)

    assert deploy() == {}
    assert started(lab) == before


@pytest.mark.parametrize(
    "fault",
    [
        "docker kill glmstead-vllm",
        "kill -9 $(systemctl show -P MainPID glmstead-vllm)",
        "systemctl restart docker",
        "systemctl kill -s KILL docker",
    ],
    ids=["container killed", "client killed", "daemon restarted", "daemon killed"],
)
def test_it_comes_back_by_itself(fault: str, lab: Deployed, deploy: Deploy) -> None:
    before = started(lab)
    lab.ssh(HOST, "rm -f /run/glmstead/glmstead-vllm/failed")  # no pause after the last fault

    lab.ssh(HOST, fault)
    deadline = time.monotonic() + 60
    while started(lab) == before:
        assert time.monotonic() < deadline
        time.sleep(0.5)
    until_answers(lab)

    assert seen(lab)["version"] == "1"
    assert lab.ssh(HOST, "docker ps -q | wc -l") == "1"
    assert deploy() == {}


def test_an_edited_unit_that_runs_is_repaired_with_one_restart(
    lab: Deployed, deploy: Deploy
) -> None:
    edit = f'sed -i \'s/--max-num-seqs" "2/--max-num-seqs" "3/\' {UNIT}'
    lab.ssh(HOST, f"{edit}; systemctl daemon-reload; systemctl restart glmstead-vllm")
    wrong = seen(lab)["words"]
    before = started(lab)

    changed = deploy()

    right = seen(lab)["words"]
    at = wrong.index("--max-num-seqs") + 1
    assert (wrong[at], right[at]) == ("3", "2")
    assert list(changed)[:2] == ["vLLM configuration | vLLM unit", "vLLM | vLLM has answered"]
    assert started(lab) != before
    assert lab.ssh(HOST, "systemctl show -P NRestarts glmstead-vllm") == "0"


def test_an_edited_unit_that_never_ran_is_repaired_without_a_restart(
    lab: Deployed, deploy: Deploy
) -> None:
    before = started(lab)
    lab.ssh(HOST, f'sed -i \'s/--max-num-seqs" "2/--max-num-seqs" "3/\' {UNIT}')

    assert "vLLM configuration | vLLM unit" in deploy()
    assert started(lab) == before
    assert deploy() == {}


def test_drift_names_what_differs_and_changes_nothing(
    lab: Deployed, deploy: Deploy, route: Callable[..., Path]
) -> None:
    declared = route()
    assert lab.run("glmstead", "drift", declared, timeout_s=300).returncode == 0
    lab.ssh(HOST, f'sed -i \'s/--max-num-seqs" "2/--max-num-seqs" "3/\' {UNIT}')
    edited = lab.ssh(HOST, f"cat {UNIT}")

    told = lab.run("glmstead", "drift", declared, timeout_s=300)
    thinking = lab.run("glmstead", "drift", route(vllm_thinking=False), timeout_s=300)

    assert told.returncode == thinking.returncode == 2
    assert told.stdout.split("\n")[1].strip().startswith("vLLM configuration | vLLM unit")
    assert "Gateway configuration" in thinking.stdout  # its names of models
    assert lab.ssh(HOST, f"cat {UNIT}") == edited
    deploy()


def test_thinking_selects_parser_and_template(lab: Deployed, deploy: Deploy) -> None:
    thinks = seen(lab)
    deploy(vllm_thinking=False)
    answers = seen(lab)

    assert "--reasoning-parser" in thinks["words"]
    assert thinks["template"].startswith("{% set reasoning_effort = ")
    assert "--reasoning-parser" not in answers["words"]
    assert answers["template"].startswith("{% set enable_thinking = ")
    gateway = lab.ssh(HOST, "cat /etc/glmstead/litellm.yaml")
    assert "glm-5.2-thinking" not in gateway
    deploy()
    assert "--reasoning-parser" in seen(lab)["words"]


def test_another_image_is_another_start(
    lab: Deployed, deploy: Deploy, digests: list[tuple[str, str]]
) -> None:
    deploy(image_digest=digests[1][0])
    assert seen(lab)["version"] == "2"
    deploy()
    assert seen(lab)["version"] == "1"


def test_an_unknown_digest_leaves_what_serves_alone(lab: Deployed, inventory: Inventories) -> None:
    before = started(lab)
    said = refusal(
        lab, inventory("b12x4", image_name=REPOSITORY, image_digest="sha256:" + "0" * 64)
    )

    assert "manifest unknown" in said or "not found" in said
    assert started(lab) == before
    assert seen(lab)["version"] == "1"


def test_a_tar_is_loaded_only_when_it_is_the_declared_one(
    lab: Deployed, inventory: Inventories, digests: list[tuple[str, str]], tmp_path: Path
) -> None:
    version, image = "2", digests[1][1]
    named = f"{REPOSITORY}:{version}"
    lab.ssh(HOST, f"docker pull -q {named} && docker save -o /root/two.tar {named}", timeout_s=120)
    checksum = lab.ssh(HOST, "sha256sum /root/two.tar").split()[0]
    tar = fetch(lab, "/root/two.tar", tmp_path / "two.tar")
    lab.ssh(HOST, f"docker rmi -f {REPOSITORY}:2 {REPOSITORY}@{digests[1][0]}")
    tar_data = {"image_source": "archive", "image_archive": str(tar)}

    wrong_sum = refusal(
        lab,
        inventory("b12x4", **tar_data, image_archive_sha256="1" * 64, image_digest=image),
    )
    wrong_image = refusal(
        lab,
        inventory(
            "b12x4",
            **tar_data,
            image_archive_sha256=checksum,
            image_digest="sha256:" + "2" * 64,
        ),
    )
    assert "two.tar is not the tar of image_archive_sha256" in wrong_sum
    assert "two.tar holds another image than image_digest sha256:2222" in wrong_image
    assert seen(lab)["version"] == "1"

    right = {**tar_data, "image_archive_sha256": checksum, "image_digest": image}
    lab.deploy(inventory("b12x4", **right))
    assert seen(lab)["version"] == "2"
    assert container(lab, "{{.Config.Image}}") == image
    assert lab.deploy(inventory("b12x4", **right)) == {}


def test_a_start_that_fails_says_the_last_lines(lab: Deployed, inventory: Inventories) -> None:
    digest = lab.ssh(HOST, "head -n1 /root/digests").split()[0].partition("@")[2]
    data = {"image_name": REPOSITORY, "image_digest": digest}
    fails = {**data, "engine_env": {"STAND_IN_FAILS": "1"}}

    said = refusal(lab, inventory("b12x4", **fails))

    assert "ERROR CUDA out of memory" in said
    assert "loading 59" in said
    assert "loading 0\n" not in said
    lab.deploy(inventory("b12x4", **data))
    assert seen(lab)["version"] == "1"


def test_it_serves_after_a_reboot(lab: Deployed, deploy: Deploy) -> None:
    up = lab.run("glmstead", "lab", "reboot", HOST, timeout_s=200)
    assert up.returncode == 0, up.stdout + up.stderr
    until_answers(lab, 120, "glmstead-vllm glmstead-gateway glmstead-gate")

    assert seen(lab)["version"] == "1"
    assert deploy() == {}
