"""Route a100_docker on a real host: the image is built there, by the patch engine, and serves.

The base has vLLM 0.23.0's real sources where patches touch them, and a server that stands in.
"""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.lab.conftest import Deployed
from tests.lab.routes.conftest import HERE, HOST, Inventories, fetch
from tests.overlay_samples import MODULES, stand_in
from tests.wheels.released import site_packages

pytestmark = pytest.mark.lab
BASE = "localhost:5000/stand-in/vllm-openai"
PYTHON = "/opt/venv/bin/python"
SITE = "/opt/venv/lib/python3.11/site-packages"
COUNT_EDITS = (
    "docker exec glmstead-vllm grep -c AMPERE_SPARSE_INDEXER "
    f"{SITE}/vllm/model_executor/layers/sparse_attn_indexer.py"
)
RANKS = {"ray_gpus_per_host": 8, "vllm_tensor_parallel_size": 8}
DOCKERFILE = f"""\
FROM stand-in-base
RUN python3 -m venv /opt/venv
COPY site/ {SITE}/
RUN : >{SITE}/vllm/__init__.py
COPY server.py /usr/local/bin/vllm
RUN chmod 755 /usr/local/bin/vllm
"""
Deploy = Callable[..., dict[str, list[str]]]


@pytest.fixture(scope="module")
def base_digest(lab: Deployed, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("base")
    shutil.copytree(site_packages("vllm", "0.23.0"), folder / "site")
    shutil.copy(HERE / "server.py", folder)
    (folder / "Dockerfile").write_text(DOCKERFILE)
    lab.send(HOST, folder, "/root/base")
    lab.ssh(
        HOST,
        f"cd /root/base && docker build -q -t {BASE}:1 . && docker push -q {BASE}:1",
        timeout_s=300,
    )
    reference = lab.ssh(HOST, f"docker image inspect -f '{{{{index .RepoDigests 0}}}}' {BASE}:1")
    return reference.partition("@")[2]


@pytest.fixture
def built(inventory: Inventories, base_digest: str, tmp_path: Path) -> Callable[..., Path]:
    def write(**data: Any) -> Path:
        image: dict[str, Any] = {"image_base_name": BASE, "image_base_digest": base_digest}
        overlay = stand_in(tmp_path / "overlay")
        return inventory(
            "a100_docker", **{**image, "image_python": PYTHON, **overlay, **RANKS, **data}
        )

    return write


def running(lab: Deployed) -> str:
    return lab.ssh(HOST, "docker inspect -f '{{.Config.Image}}' glmstead-vllm")


def test_the_image_is_built_patched_verified_and_serves(
    lab: Deployed, built: Callable[..., Path]
) -> None:
    lab.deploy(built())
    image = running(lab)

    assert image.startswith("glmstead/vllm-a100:")
    assert lab.ssh(HOST, COUNT_EDITS) == "15"
    seen = json.loads(lab.ssh(HOST, "curl -sS http://127.0.0.1:8000/seen"))
    assert seen["words"][:2] == ["serve", "/var/lib/glmstead/models/glm-nano"]
    assert "--no-async-scheduling" in seen["words"]
    assert "VLLM_ATTENTION_BACKEND" not in seen["environment"]


def test_a_second_run_builds_nothing(lab: Deployed, built: Callable[..., Path]) -> None:
    assert lab.deploy(built()) == {}


def test_the_tar_and_what_to_declare_lie_beside(lab: Deployed) -> None:
    name = running(lab).replace("/", "-").replace(":", "-")
    tar = f"/var/lib/glmstead/images/{name}.tar"
    document = json.loads(lab.ssh(HOST, f"cat {tar}.json"))

    assert document["image_archive_sha256"] == lab.ssh(HOST, f"sha256sum {tar}").split()[0]
    assert document["image_digest"] == lab.ssh(
        HOST, f"docker image inspect -f '{{{{.Id}}}}' {running(lab)}"
    )


def test_a_host_without_a_registry_serves_the_tar(
    lab: Deployed, inventory: Inventories, tmp_path: Path
) -> None:
    """As on another host: neither image nor registry is there, only what was built elsewhere."""
    name = running(lab).replace("/", "-").replace(":", "-")
    at = f"/var/lib/glmstead/images/{name}.tar"
    tar = fetch(lab, at, tmp_path / "built.tar")
    declared = json.loads(lab.ssh(HOST, f"cat {at}.json"))
    lab.ssh(HOST, "systemctl stop glmstead-vllm docker-registry; docker system prune --all -f")
    assert lab.ssh(HOST, "docker images -q") == ""

    elsewhere = {"image_source": "archive", "image_archive": str(tar), **declared}
    site: dict[str, Any] = {"patches_tags": [], "overlay_name": None, "image_python": PYTHON}
    path = inventory("a100_docker", **elsewhere, **site, **RANKS)
    lab.deploy(path)

    assert running(lab) == declared["image_digest"]
    assert lab.ssh(HOST, COUNT_EDITS) == "15"
    assert lab.deploy(path) == {}
    lab.ssh(HOST, "systemctl start docker-registry")


def test_a_module_that_does_not_import_fails_the_build_and_leaves_what_serves(
    lab: Deployed, built: Callable[..., Path], tmp_path: Path
) -> None:
    before = running(lab)
    path = next(iter(MODULES))
    broken = {**MODULES, path: MODULES[path] + "import no_such_module\n"}
    inventory = built(**stand_in(tmp_path / "broken", broken))

    run = lab.run("pyinfra", "-y", inventory, "deploy.py", timeout_s=300)

    assert run.returncode == 1
    assert "No module named 'no_such_module'" in run.stdout + run.stderr
    assert running(lab) == before


def test_the_ray_variant_has_its_packages(lab: Deployed, built: Callable[..., Path]) -> None:
    before = running(lab)

    lab.deploy(built(image_ray_packages=["six==1.17.0"]))

    assert running(lab) != before
    version = "import six; print(six.__version__)"
    assert (
        lab.ssh(HOST, f"docker exec glmstead-vllm /opt/venv/bin/python -c '{version}'") == "1.17.0"
    )
    seen = json.loads(lab.ssh(HOST, "curl -sS http://127.0.0.1:8000/seen"))
    assert seen["environment"]["RAY_enable_ipc"] == "true"
    assert before not in lab.ssh(HOST, "docker images --format '{{.Repository}}:{{.Tag}}'")
    tars = lab.ssh(HOST, "ls /var/lib/glmstead/images").split()
    assert tars == [
        f"{running(lab).replace('/', '-').replace(':', '-')}.tar{end}" for end in ("", ".json")
    ]
