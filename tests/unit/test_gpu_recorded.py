"""Hosts as ``scripts/gpu-proof`` recorded them: what real nvidia-smi says is read whole.

A recording is the probe's answer without what names the machine (network, UUIDs).
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from glmstead.gpu import fitness
from glmstead.gpu.read import gpu_host
from glmstead.settings import Settings
from tests.gpu_samples import raw_host

RECORDED = sorted((Path(__file__).parent.parent / "recorded").glob("*.json"))


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_a_recorded_host_is_read_whole_and_fits_what_it_is(
    path: Path, settings: Callable[..., dict[str, Settings]]
) -> None:
    raw = {**raw_host(), **json.loads(path.read_text())}
    found = gpu_host(raw)

    assert found.smi == "ok", found.smi_error
    assert {gpu.driver for gpu in found.gpus} == {found.driver.loaded}
    assert found.driver.cuda is not None
    assert len(found.pci_gpus) >= len(found.gpus) >= 1
    for gpu in found.gpus:
        assert gpu.memory_mib > 16000
        assert None not in (gpu.power_limit_w, gpu.power_draw_w, gpu.ecc, gpu.utilization)
    first = found.gpus[0]
    declared = {
        "gpu_count": len(found.gpus),
        "ray_gpus_per_host": len(found.gpus),
        "gpu_model": first.name.removeprefix("NVIDIA "),
        "gpu_capability": first.capability,
        "gpu_memory_gib": first.memory_mib // 1024,
        "vllm_tensor_parallel_size": 2 * len(found.gpus),
    }
    told = settings(route="g4", data=declared)["@fake/h1"]
    assert [line for line in fitness.after(found, told) if "packages are" not in line] == []
