"""The GPUs themselves: nvidia-smi, kernel modules, PCI, the kernel's log."""

from pathlib import Path
from typing import Any

from glmstead.probes.asking import asked, request, text

FIELDS = (
    "index,name,pci.bus_id,uuid,compute_cap,memory.total,memory.used,ecc.mode.current,"
    "power.limit,power.draw,utilization.gpu,persistence_mode,mig.mode.current,driver_version"
)
LOG = r"NVRM|Xid|nvidia|nouveau|Key was rejected|Lockdown"


def smi() -> "dict[str, Any]":
    """nvidia-smi's answers; the later ones only where the first came."""
    first = asked("nvidia-smi", f"--query-gpu={FIELDS}", "--format=csv,noheader,nounits")
    if first["status"] != "ok":
        return {"gpus": first}
    holders = "--query-compute-apps=gpu_uuid,pid,process_name,used_memory"
    return {
        "gpus": first,
        "version": asked("nvidia-smi", "--version"),
        "summary": asked("nvidia-smi", keep="CUDA Version"),
        "holders": asked("nvidia-smi", holders, "--format=csv,noheader,nounits"),
        "topology": asked("nvidia-smi", "topo", "-m"),
    }


def modules() -> "dict[str, dict[str, str]]":
    """``{kernel: {"version", "license", "signer"}}`` of the NVIDIA module of each kernel."""
    found = {}
    for kernel in sorted(Path(request["root"], "lib/modules").glob("*/")):
        files = sorted(kernel.rglob("nvidia.ko*"))
        named = {
            field: str(asked("modinfo", "-F", field, str(files[0]))["text"]).strip()
            for field in ("version", "license", "signer")
            if files
        }
        found[kernel.name] = named
    return found


def pci() -> "dict[str, Any]":
    """NVIDIA's display and 3D controllers by address, and what lspci says of every bridge."""
    found = {}
    for path in Path(request["root"], "sys/bus/pci/devices").glob("*"):
        fields = {n: text(f"{path}/{n}").strip() for n in ("vendor", "class", "device")}
        if fields["vendor"] == "0x10de" and fields["class"].startswith("0x03"):
            found[path.name] = {"device": fields["device"], "numa": text(f"{path}/numa_node")}
    groups = Path(request["root"], "sys/kernel/iommu_groups")
    keep = r"^[0-9a-f]{4}:|ACSCtl|LnkSta:|Kernel driver"
    return {
        "gpus": found,
        "devices": asked("lspci", "-Dvvvnn", keep=keep),
        "iommu_groups": len(list(groups.glob("*"))),
    }


def log() -> "dict[str, str | int]":
    """NVIDIA's lines of the kernel's log since boot."""
    journal = asked("journalctl", "-k", "-b", "-o", "cat", "--no-pager", keep=LOG)
    return journal if journal["text"] else asked("dmesg", keep=LOG)
