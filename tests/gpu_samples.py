"""GPU hosts as their own programs describe them: texts of nvidia-smi, lspci, the kernel's log.

Texts are laid out as recorded ones in the threads that each test names.
"""

import json
from typing import Any

RTX = ("NVIDIA RTX PRO 6000 Blackwell Server Edition", "12.0", 97887)
A100 = ("NVIDIA A100-SXM4-80GB", "8.0", 81920)
H200 = ("NVIDIA H200", "9.0", 143771)
OPEN = (
    "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  {}  Release Build  "
    "(dvs-builder@U22-I3)  Tue Mar 10 01:01:55 UTC 2026\n"
    "GCC version:  gcc version 12.3.0 (Ubuntu 12.3.0-1ubuntu1~22.04)\n"
)
CLOSED = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  {}  Fri May 31 09:35:42 UTC 2024\n"
MISMATCH = "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: {}\n"
NO_DEVICES = {"status": "failed", "text": "No devices were found\n", "error": ""}
NOT_LOADED = {
    "status": "failed",
    "text": "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make "
    "sure that the latest NVIDIA driver is installed and running.\n\n",
    "error": "",
}
MISSING = {"status": "missing", "text": "", "error": "No such file or directory: 'nvidia-smi'"}
HUNG = {"status": "hung", "text": "", "error": "no answer in 20 s"}


def ok(text: str = "") -> dict[str, Any]:
    """A program's answer."""
    return {"status": "ok", "text": text, "error": ""}


def smi_csv(board: tuple[str, str, int], count: int, driver: str, mig: str = "Disabled") -> str:
    """What nvidia-smi's query prints for equal GPUs."""
    name, capability, memory = board
    return "".join(
        f"{i}, {name}, 00000000:{0x10 + i:02X}:00.0, GPU-{i}, {capability}, {memory}, 4, Disabled, "
        f"600.00, 34.51, 0, Enabled, {mig}, {driver}\n"
        for i in range(count)
    )


def packages(driver: str, suffix: str = "-0ubuntu1", branch: str = "-580") -> str:
    """dpkg-query's lines of a driver."""
    names = (f"libnvidia-compute{branch}", f"nvidia-utils{branch}", f"nvidia-dkms{branch}-open")
    kernel = "ii  linux-image-6.8.0-1060-gcp 6.8.0-1060.68\n"
    return "".join(f"ii  {name} {driver}{suffix}\n" for name in names) + kernel


def links(**mtus: int) -> dict[str, Any]:
    """``ip -j address`` of interfaces; the first has the cluster's address."""
    rows = [
        {"ifname": name, "mtu": mtu, "addr_info": [{"local": f"10.77.42.{11 + i}"}]}
        for i, (name, mtu) in enumerate(mtus.items())
    ]
    return ok(json.dumps(rows))


def raw_host(
    board: tuple[str, str, int] = RTX, count: int = 8, driver: str = "580.159.03"
) -> dict[str, Any]:
    """A healthy host as ``probes.gpu`` tells it; tests change one thing."""
    return {
        "machine": "x86_64",
        "os": 'ID=ubuntu\nVERSION_ID="22.04"\n',
        "kernel": "6.8.0-1060-gcp",
        "boot_id": "a",
        "command_line": "BOOT_IMAGE=/vmlinuz console=ttyS0",
        "smi": {
            "gpus": ok(smi_csv(board, count, driver)),
            "version": ok(f"DRIVER version      : {driver}\nCUDA Version        : 13.0\n"),
            "summary": ok(),
            "holders": ok(),
            "topology": ok(),
        },
        "module": OPEN.format(driver),
        "loaded": ["nvidia_uvm", "nvidia"],
        "modules": {"6.8.0-1060-gcp": {"version": driver, "license": "Dual MIT/GPL", "signer": ""}},
        "secure_boot": ok("SecureBoot disabled\n"),
        "pci": {
            "gpus": {
                f"0000:{0x10 + i:02x}:00.0": {"device": "0x2bb5", "numa": str(i // 4)}
                for i in range(count)
            },
            "devices": ok(),
            "iommu_groups": 0,
        },
        "network": {
            "links": links(host0=8896),
            "speeds": {"host0": "200000"},
            "routes": {"10.77.42.12": ok('[{"dst":"10.77.42.12","dev":"host0"}]')},
        },
        "toolchain": {
            "nvcc": ok("Cuda compilation tools, release 13.0, V13.0.88\n"),
            "ninja": ok("1.13.2\n"),
            "g++": ok("g++ (Ubuntu 11.4.0-1ubuntu1~22.04) 11.4.0\n"),
            "cuda_home": "/opt/glmstead/cuda",
        },
        "apt": {"packages": ok(packages(driver)), "held": ok(), "check": ok(), "lock": None},
        "limits": {},
        "shm": 700 * 10**9,
        "boot_free": 10**9,
        "clock": ok("yes\n"),
        "log": ok(),
    }
