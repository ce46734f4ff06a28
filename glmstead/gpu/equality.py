"""What must be equal on all hosts of a cluster, since a rank is as good as any other."""

from collections import Counter
from typing import Any

from glmstead.gpu.values import GpuHost


def comparable(found: GpuHost, address: str) -> dict[str, Any]:
    """What is compared, by the words people read; ``address`` is the host's in the cluster."""
    counted = Counter(f"{gpu.name}, {gpu.memory_mib} MiB" for gpu in found.gpus)
    boards = [f"{count} x {name}" for name, count in sorted(counted.items())]
    mtus = [nic.mtu for nic in found.nics if address in nic.addresses]
    return {
        "GPUs": "; ".join(boards) or f"{len(found.pci_gpus)} on PCI",
        "driver": found.driver.loaded or "none",
        "kernel modules": {True: "open", False: "closed", None: "none"}[found.driver.is_open],
        "kernel": found.kernel,
        "nvcc": found.toolchain.nvcc or "none",
        "MTU": mtus[0] if mtus else "none",
        "architecture": found.machine,
    }


def differences(here: dict[str, Any], there: dict[str, Any], other: str) -> list[str]:
    """One line a difference between this host and ``other``."""
    return [
        f"{name}: {here[name]} here, {there[name]} on {other}: make them equal"
        for name in here
        if here[name] != there[name]
    ]
