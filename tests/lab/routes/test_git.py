"""Engine from git on a real host: a repository of vLLM's shape, with 0.23.0's own sources in it.

Everything but the size is real: git, the pick, uv's editable install, the patches in the checkout.
"""

import json
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.lab.conftest import Deployed
from tests.lab.routes.conftest import HERE, HOST, Inventories
from tests.overlay_samples import MODULES
from tests.wheels.released import site_packages

pytestmark = pytest.mark.lab
UPSTREAM, ENGINE, CHECKOUT = "/root/upstream", "/opt/glmstead/engine", "/opt/glmstead/vllm"
INDEXER = "vllm/model_executor/layers/sparse_attn_indexer.py"
REF = "pull/38476/head"
NAME = "    CUTLASS_MLA = "
SETUP = """\
import os
from setuptools import find_namespace_packages, setup

assert os.environ["VLLM_USE_PRECOMPILED"] == "1", "this would need a compiler"
version = os.environ["SETUPTOOLS_SCM_PRETEND_VERSION_FOR_VLLM"]
setup(name="vllm", version=version, packages=find_namespace_packages(include=["vllm*"]))
"""


@dataclass(frozen=True)
class Upstream:
    """Two commits: upstream's release, and the change on an older state of it."""

    folder: Path
    commit: str
    pick: str


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    run = ["git", "-C", str(folder), *who, *words]
    return subprocess.run(run, capture_output=True, text=True, check=True).stdout.strip()


def committed(folder: Path, message: str) -> str:
    git(folder, "add", "--all")
    git(folder, "commit", "-qm", message)
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture(scope="module")
def upstream(lab: Deployed, tmp_path_factory: pytest.TempPathFactory) -> Upstream:
    folder = tmp_path_factory.mktemp("upstream")
    shutil.copytree(site_packages("vllm", "0.23.0") / "vllm", folder / "vllm")
    (folder / "vllm/__init__.py").write_text("")
    (folder / "setup.py").write_text(SETUP)
    released = (folder / INDEXER).read_text()
    guard = "if current_platform.is_cuda() and not has_deep_gemm():"
    (folder / INDEXER).write_text(released.replace(guard, "if not has_deep_gemm():"))
    git(folder, "init", "-qb", "main")
    git(folder, "config", "uploadpack.allowAnySHA1InWant", "true")
    base = committed(folder, "before XPU")
    (folder / INDEXER).write_text(released)
    commit = committed(folder, "XPU")

    git(folder, "checkout", "-q", base)
    text = (folder / INDEXER).read_text()
    (folder / INDEXER).write_text(text.replace("if not has_deep_gemm():", "if True:"))
    registry = folder / "vllm/v1/attention/backends/registry.py"
    registry.write_text(registry.read_text().replace(NAME, f'    TRITON_MLA_SPARSE = "x"\n{NAME}'))
    stub = "csrc/quantization/fp4/nvfp4_quant_entry.cu"
    for path, content in {**MODULES, stub: "// shim\n"}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content)
    pick = committed(folder, "sparse attention by Triton")
    git(folder, "update-ref", f"refs/{REF}", "HEAD")
    git(folder, "checkout", "-q", "main")
    lab.send(HOST, folder, UPSTREAM)
    lab.ssh(HOST, "command -v git >/dev/null || apt-get install -qq -y git >/dev/null 2>&1")
    lab.ssh(HOST, f"git config --global --add safe.directory {UPSTREAM}/.git")
    lab.ssh(HOST, f"rm -rf {ENGINE} {CHECKOUT}", timeout_s=600)
    return Upstream(folder, commit, pick)


@pytest.fixture
def deploy(lab: Deployed, inventory: Inventories, upstream: Upstream) -> Callable[..., Any]:
    """Run the engine's part of the plan; the finished process."""

    def run(**data: Any) -> "subprocess.CompletedProcess[str]":
        pins = {"git_commit": upstream.commit, "git_pick_commit": upstream.pick}
        ranks = {"ray_gpus_per_host": 8, "vllm_tensor_parallel_size": 8}
        source = {"git_url": f"file://{UPSTREAM}", "model_revision": None}
        path = inventory("a100_git", **{**pins, **ranks, **source, **data})
        return lab.run("pyinfra", "-y", "--json", path, HERE / "git_deploy.py", timeout_s=300)

    return run


def changed(done: "subprocess.CompletedProcess[str]") -> list[str]:
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    operations = json.loads(done.stdout)["results"]["operations"]
    return [one["name"] for one in operations if one["success"]]


def edits(lab: Deployed) -> str:
    return lab.ssh(HOST, f"grep -c AMPERE_SPARSE_INDEXER {CHECKOUT}/{INDEXER} || true")


def test_the_engine_runs_from_the_picked_and_patched_checkout(
    lab: Deployed, deploy: Callable[..., Any]
) -> None:
    changed(deploy())

    program = "import importlib.util as u, importlib.metadata as m; s = u.find_spec('vllm'); "
    program += "print(*s.submodule_search_locations, m.version('vllm'))"
    assert lab.ssh(HOST, f'cd / && {ENGINE}/bin/python -c "{program}"') == f"{CHECKOUT}/vllm 0.23.0"
    assert edits(lab) == "15"
    assert (
        lab.ssh(
            HOST, f"grep -c TRITON_MLA_SPARSE {CHECKOUT}/vllm/v1/attention/backends/registry.py"
        )
        == "1"
    )
    assert lab.ssh(HOST, f"cd {CHECKOUT} && git ls-files csrc | wc -l") == "0"
    listed = json.loads(lab.ssh(HOST, "cat /etc/glmstead/patches.json"))
    assert INDEXER in json.dumps(listed)


def test_a_second_run_changes_nothing(deploy: Callable[..., Any]) -> None:
    assert changed(deploy()) == []


def test_a_branch_that_moved_is_refused_and_the_engine_left_as_it_was(
    lab: Deployed, deploy: Callable[..., Any], upstream: Upstream
) -> None:
    git(upstream.folder, "checkout", "-q", upstream.pick)
    (upstream.folder / "README.md").write_text("more\n")
    moved = committed(upstream.folder, "more")
    git(upstream.folder, "update-ref", f"refs/{REF}", "HEAD")
    lab.send(HOST, upstream.folder, UPSTREAM)

    assert changed(deploy()) == []  # what was made of the pins still stands
    done = deploy(git_drop=["csrc/*"])  # another pick, of the commit that the branch was at

    assert done.returncode == 1
    assert f"{REF} is {moved[:12]} now, not git_pick_commit {upstream.pick[:12]}" in (
        done.stdout + done.stderr
    )
    assert edits(lab) == "15"
