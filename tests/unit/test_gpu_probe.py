"""The probe of a GPU host, run as it runs there: programs on PATH, files below a root."""

import fcntl
import json
import os
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from glmstead.gpu.read import gpu_host
from glmstead.gpu.smi import slowed
from glmstead.gpu.values import GpuHost
from glmstead.probe_source import FOLDER, probe_source
from tests.gpu_samples import A100, CLOSED, H200, OPEN, RTX, smi_csv

PROBE = probe_source(FOLDER / "gpu.py")
Probe = Callable[..., GpuHost]


@pytest.fixture
def probe(tmp_path: Path) -> Probe:
    """Run the probe on a host with these programs (name to shell script) and files."""
    programs, root = tmp_path / "bin", tmp_path / "root"
    programs.mkdir()
    root.mkdir()

    def run(files: dict[str, str] | None = None, seconds: float = 5, **scripts: str) -> GpuHost:
        for path, text in {"proc/sys/kernel/osrelease": "6.8.0\n", **(files or {})}.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        for name, script in scripts.items():
            program = programs / name.replace("_", "-")
            program.write_text(f"#!/bin/sh\n{script}\n")
            program.chmod(0o755)
        path = f"{programs}:/usr/bin:/bin"
        request = {
            "root": str(root),
            "user": "nobody-here",
            "environment": {"PATH": path},
            "units": [],
            "peers": [],
            "seconds": seconds,
        }
        done = subprocess.run(
            [sys.executable, "-I", "-c", PROBE, json.dumps(request)],
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            check=True,
        )
        raw: dict[str, Any] = json.loads(done.stdout)
        return gpu_host(raw)

    return run


def script(text: str, status: int = 0) -> str:
    return f"cat <<'TEXT'\n{text}TEXT\nexit {status}"


def test_gpus_are_told_with_module_and_log(probe: Probe) -> None:
    found = probe(
        files={
            "proc/driver/nvidia/version": OPEN.format("580.159.03"),
            "proc/modules": "nvidia 14000000 3 nvidia_uvm, Live 0x0\n",
            "sys/bus/pci/devices/0000:10:00.0/vendor": "0x10de\n",
            "sys/bus/pci/devices/0000:10:00.0/class": "0x030200\n",
            "sys/bus/pci/devices/0000:10:00.0/device": "0x2bb5\n",
            "sys/bus/pci/devices/0000:10:00.0/numa_node": "1\n",
            "sys/bus/pci/devices/0000:11:00.0/vendor": "0x10de\n",
            "sys/bus/pci/devices/0000:11:00.0/class": "0x040300\n",  # its sound
            "etc/os-release": 'ID=ubuntu\nVERSION_ID="24.04"\n',
        },
        nvidia_smi=script(smi_csv(RTX, 1, "580.159.03")),
        journalctl=script("usb 1-1: new device\nNVRM: Xid (PCI:0000:10:00): 79, pid=1\n"),
        mokutil=script("SecureBoot enabled\n"),
    )

    assert (found.smi, len(found.gpus), found.gpus[0].memory_mib) == ("ok", 1, 97887)
    assert (found.driver.loaded, found.driver.is_open) == ("580.159.03", True)
    assert (found.pci_gpus, found.numa) == (("0000:10:00.0",), {"0000:10:00.0": 1})
    assert (found.system, found.kernel) == (("ubuntu", "24.04"), "6.8.0")
    assert found.secure_boot is True
    assert [one.what for one in found.findings] == ["Xid 79 of GPU 0000:10:00: fell off the bus"]


@pytest.mark.parametrize(
    ("board", "count", "mig"),
    [(RTX, 8, "Disabled"), (RTX, 4, "Disabled"), (A100, 8, "Disabled"), (H200, 2, "Enabled")],
    ids=["RTX PRO 6000 x 8", "RTX PRO 6000 x 4", "A100 x 8", "H200 x 2 with MIG"],
)
def test_every_board_of_the_routes_is_read(
    probe: Probe, board: tuple[str, str, int], count: int, mig: str
) -> None:
    found = probe(nvidia_smi=script(smi_csv(board, count, "580.159.03", mig)))

    name, capability, memory = board
    assert [gpu.index for gpu in found.gpus] == list(range(count))
    told = {(gpu.name, gpu.capability, gpu.memory_mib, gpu.mig) for gpu in found.gpus}
    assert told == {(name, capability, memory, mig == "Enabled")}


def test_D2_bridges_that_redirect_peers_are_counted_where_the_iommu_translates(
    probe: Probe,
) -> None:
    bridge = "0000:%02x:01.0 PCI bridge [0604]: Broadcom PEX890xx [1000:c030]\n\t\tACSCtl:\t%s\n"
    on, off = (
        "SrcValid+ TransBlk- ReqRedir+ CmpltRedir+",
        "SrcValid- TransBlk- ReqRedir- CmpltRedir-",
    )
    found = probe(
        files={"sys/kernel/iommu_groups/7/type": "DMA\n", "proc/cmdline": "iommu=on\n"},
        lspci=script(bridge % (1, on) + bridge % (2, off) + bridge % (3, on)),
    )

    assert (found.acs_bridges, found.iommu) == (2, True)


def test_a_hanging_nvidia_smi_is_left_behind(probe: Probe) -> None:
    start = time.monotonic()
    # A child holds the pipe, as nvidia-smi's helpers do.
    found = probe(seconds=1, nvidia_smi="sleep 300 & sleep 300")

    assert (found.smi, found.smi_error) == ("hung", "no answer in 1 s")
    assert time.monotonic() - start < 60


@pytest.mark.parametrize(
    ("text", "status", "state"),
    [
        ("No devices were found\n", 6, "no devices"),
        (
            "Failed to initialize NVML: Driver/library version mismatch\n"
            "NVML library version: 580.159\n",
            18,
            "mismatch",
        ),
        (
            "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n",
            9,
            "not loaded",
        ),
        (
            "Unable to determine the device handle for GPU0: 0000:C1:00.0: Unknown Error\n",
            255,
            "failed",
        ),
        (f"{smi_csv(RTX, 1, '1')}Segmentation fault\n" * 10000, 139, "failed"),
        ("caf\u00e9 \u26a0 <html>\n" * 3, 0, "failed"),
        ("x, a, b, c, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1\n", 0, "failed"),
        (smi_csv(RTX, 8, "580.159.03")[:40] + "\n", 0, "failed"),
    ],
)
def test_a_broken_nvidia_smi_says_how(probe: Probe, text: str, status: int, state: str) -> None:
    found = probe(
        files={"proc/driver/nvidia/version": CLOSED.format("550.90.07")},
        nvidia_smi=script(text, status),
    )

    assert (found.smi, found.gpus) == (state, ())
    assert 0 < len(found.smi_error) < 300
    assert (found.driver.loaded, found.driver.is_open) == ("550.90.07", False)


def test_of_several_complaints_the_one_that_names_the_gpu_is_told(probe: Probe) -> None:
    lost = "Unable to determine the device handle for GPU2: 0000:41:00.0: Unknown Error"
    healthy = smi_csv(RTX, 2, "580.159.03")

    for text in (f"{lost}\nNo devices were found\n", f"{healthy}{lost}\n"):
        found = probe(nvidia_smi=script(text, 6))
        assert (found.smi, found.smi_error) == ("failed", lost)


def test_tools_that_print_nonsense_stop_no_other_answer(probe: Probe) -> None:
    nonsense = r"printf 'caf\351 \342\232\240 <html>\n'"
    found = probe(
        nvidia_smi=script(smi_csv(RTX, 2, "580.159.03")),
        **dict.fromkeys(("ip", "lspci", "mokutil", "journalctl", "dmesg", "modinfo"), nonsense),
        **dict.fromkeys(("dpkg", "dpkg_query", "apt_mark", "nvcc", "ninja"), nonsense),
    )

    assert (found.smi, len(found.gpus), found.nics, found.secure_boot) == ("ok", 2, (), None)
    assert (found.toolchain.nvcc, found.findings) == (None, ())


def test_a_lock_without_a_process_is_no_crash(probe: Probe, tmp_path: Path) -> None:
    lock = tmp_path / "root" / "var/lib/dpkg/lock-frontend"
    lock.parent.mkdir(parents=True)
    with lock.open("w") as file:
        # Of the open file, so the kernel names process -1; one that has just ended is none either
        ours = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        fcntl.fcntl(file, fcntl.F_OFD_SETLK, ours)
        found = probe(nvidia_smi=script(smi_csv(RTX, 1, "580.159.03")))

    assert len(found.gpus) == 1


def test_a_host_without_anything_of_nvidia_is_told_too(probe: Probe) -> None:
    found = probe()

    assert (found.smi, found.gpus, found.pci_gpus) == ("missing", (), ())
    assert (found.driver.loaded, found.driver.cuda, found.toolchain.nvcc) == (None, None, None)
    assert found.findings == ()


def test_B2_nvcc_is_looked_for_where_the_services_look(probe: Probe) -> None:
    found = probe(
        nvcc=script("Cuda compilation tools, release 13.0, V13.0.88\n"), ninja=script("1.13.2\n")
    )

    assert (found.toolchain.nvcc, found.toolchain.ninja) == ("13.0", "1.13.2")


def test_another_apt_that_holds_a_lock_is_named(probe: Probe, tmp_path: Path) -> None:
    lock = tmp_path / "root" / "var/lib/dpkg/lock-frontend"
    lock.parent.mkdir(parents=True)
    hold = f"import fcntl, time; f = open({str(lock)!r}, 'w'); fcntl.lockf(f, fcntl.LOCK_EX); "
    with subprocess.Popen(
        [sys.executable, "-c", hold + "print('held', flush=True); time.sleep(60)"],
        stdout=subprocess.PIPE,
    ) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        found = probe()
        holder.kill()

    assert found.apt_lock.endswith(f"(pid {holder.pid})")


@pytest.mark.parametrize(
    ("figures", "waiting"),
    [("100, 140.12, 600.00", 8), ("100, 420.00, 600.00", 0), ("3, 88.00, 600.00", 0)],
    ids=["one board of the thread", "a board at work", "an idle one"],
)
def test_D4_gpus_that_are_busy_at_little_power_wait_for_each_other(
    figures: str, waiting: int
) -> None:
    lines = "".join(f"GPU-{number}, {figures}\n" for number in range(8))

    assert slowed(lines + "GPU-8, [GPU is lost], [GPU is lost], [GPU is lost]\n") == waiting
    assert slowed("No devices were found\n") == 0
