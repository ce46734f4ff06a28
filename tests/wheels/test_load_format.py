"""The pinned releases load onto a rank's own GPU, on the second host too (cuda:8 exists nowhere)."""

import ast
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from glmstead.lock import lock_path, pins
from tests.wheels.released import site_packages

pytestmark = pytest.mark.wheels

LOADER = "vllm/model_executor/model_loader/weight_utils.py"
FRAMEWORK = "fastsafetensors/frameworks/_torch.py"
PYTHON = {"g4": "3.11", "g4_newer": "3.12"}  # routes of several hosts


def function(path: Path, name: str, names: dict[str, Any]) -> Any:
    """One function of a source file, its globals replaced; types are not evaluated."""
    found = next(
        node
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef) and node.name == name
    )
    found.decorator_list = []
    future = ast.parse("from __future__ import annotations").body
    module = ast.Module([*future, found], [])
    exec(compile(module, str(path), "exec"), names)
    return names[name]


def second_host() -> SimpleNamespace:
    """The 13th of 16 ranks: the fifth GPU of the second host."""
    return SimpleNamespace(rank=lambda: 12, size=lambda: 16)


@pytest.mark.parametrize("lock", PYTHON)
def test_vllm_asks_for_the_gpu_that_the_rank_has_on_its_own_host(
    lock: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[dict[str, Any]] = []

    def parallel_loader(**options: Any) -> Any:
        asked.append(options)
        return SimpleNamespace(iterate_weights=lambda: iter([("a", 1)]), close=lambda: None)

    package = SimpleNamespace(ParallelLoader=parallel_loader)
    monkeypatch.setitem(sys.modules, "fastsafetensors.parallel_loader", package)
    group = SimpleNamespace(WORLD=second_host())
    names = {
        "torch": SimpleNamespace(
            distributed=SimpleNamespace(is_initialized=lambda: True, group=group), device=str
        ),
        "current_platform": SimpleNamespace(current_device=lambda: 4),
        "_natural_sort_key": str,
        "envs": SimpleNamespace(VLLM_FASTSAFETENSORS_QUEUE_SIZE=0),
        "enable_tqdm": bool,
    }
    release = pins(lock_path(lock).read_text(), PYTHON[lock])["vllm"]
    path = site_packages("vllm", release, (LOADER,)) / LOADER
    load = function(path, "fastsafetensors_weights_iterator", names)

    assert list(load(["model-00002.safetensors"], use_tqdm_on_load=False)) == [("a", 1)]
    assert [options["device"] for options in asked] == ["cuda:4"]
    assert asked[0]["pg"].size() == 16  # each file is read once, and broadcast to all ranks


@pytest.mark.parametrize("lock", PYTHON)
def test_fastsafetensors_takes_the_device_that_it_is_given(lock: str) -> None:
    device = SimpleNamespace(type="cuda", index=4)
    names = {
        "torch": SimpleNamespace(device=lambda asked: device),
        "Device": lambda kind, index: f"{kind}:{index}",
        "DeviceType": str,
    }
    release = pins(lock_path(lock).read_text(), PYTHON[lock])["fastsafetensors"]
    path = site_packages("fastsafetensors", release, (FRAMEWORK,)) / FRAMEWORK

    assert function(path, "get_device", names)(None, "cuda:4", second_host()) == "cuda:4"
