"""PCI topology: access control that sends peer traffic through the root, firmware state."""

import re
from typing import Any


def acs_bridges(text: str) -> int:
    """Bridges whose ACS redirects peer-to-peer traffic (NVIDIA/nccl#2079: control 0x001d)."""
    return len(re.findall(r"ACSCtl:.*(?:ReqRedir\+|CmpltRedir\+|SrcValid\+)", text))


def iommu_is_on(command_line: str, groups: int) -> bool:
    """Whether an IOMMU translates: ``iommu=pt`` and a VM without groups do not hurt."""
    words = command_line.split()
    return groups > 0 and not {"iommu=pt", "iommu=off", "intel_iommu=off"} & set(words)


def secure_boot(answer: dict[str, Any]) -> bool | None:
    """None: no mokutil, or no EFI at all."""
    if "SecureBoot enabled" in answer["text"]:
        return True
    return False if "SecureBoot disabled" in answer["text"] else None


def numa_node(text: str) -> int | None:
    """None where the kernel knows no node (-1, as in many VMs)."""
    return int(text) if text.strip().isdigit() else None
