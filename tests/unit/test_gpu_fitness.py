"""Field failures of GPU hosts, by their numbers in the threads: what is said, with the fix."""

from collections.abc import Callable
from typing import Any

import pytest

from glmstead.gpu import fitness
from glmstead.gpu.equality import comparable, differences
from glmstead.gpu.read import gpu_host
from glmstead.settings import Settings
from tests.gpu_samples import (
    A100,
    CLOSED,
    H200,
    HUNG,
    MISMATCH,
    MISSING,
    NO_DEVICES,
    NOT_LOADED,
    OPEN,
    links,
    ok,
    packages,
    raw_host,
    smi_csv,
)

Raw = dict[str, Any]
Before = Callable[..., list[str]]
APT = {"driver_source": "apt", "driver_version": "580.159.04"}


@pytest.fixture
def before(settings: Callable[..., dict[str, Settings]]) -> Before:
    """Judge a host of the g4 route."""

    def judge(raw: Raw, **data: Any) -> list[str]:
        declared = {"cluster_interface": "host0", **data}
        return fitness.before(gpu_host(raw), settings(route="g4", data=declared)["@fake/h1"])

    return judge


def changed(**fields: Any) -> Raw:
    return {**raw_host(), **fields}


def smi(answer: Raw) -> Raw:
    return {"smi": {"gpus": answer}}


def test_eight_healthy_gpus_will_do(before: Before) -> None:
    assert before(raw_host()) == []


def broken(text: str) -> Raw:
    return {"status": "failed", "text": text, "error": ""}


RTX_575 = {
    "smi": {
        **raw_host()["smi"],
        "gpus": ok(smi_csv(("NVIDIA RTX PRO 6000", "12.0", 97887), 8, "570.133.20")),
    },
    "module": OPEN.format("570.133.20"),
}
FIELD: dict[str, tuple[Raw, list[str]]] = {
    "A1 no devices, closed modules": (
        {**smi(NO_DEVICES), "module": CLOSED.format("580.159.03")},
        [
            "nvidia-smi: No devices were found, 8 on PCI: closed modules are loaded, "
            "newer boards need nvidia-open"
        ],
    ),
    "A2 the kernel's log names the cause": (
        {
            **smi(NO_DEVICES),
            "log": ok("NVRM: GPU 0000:01:00.0: RmInitAdapter failed! (0x22:0x56:884)"),
        },
        [
            "the closed kernel module does not know this GPU: install the open kernel modules "
            "(driver_source = 'apt'); with open modules, enable Above 4G Decoding",
            "nvidia-smi: No devices were found, 8 on PCI: look at journalctl -k",
        ],
    ),
    "A8 a package was upgraded under the module": (
        {
            **smi(broken(MISMATCH.format("550.107"))),
            "module": CLOSED.format("550.90.07"),
            "apt": {**raw_host()["apt"], "packages": ok(packages("550.107.02", branch="-550"))},
        },
        [
            "module 550.90.07 is loaded, the packages are 550.107.02: reboot the host",
            "driver 550.90.07 is older than 580.65, which the pinned torch needs: set "
            "driver_source = 'apt' and driver_version",
        ],
    ),
    "A9 the same, one branch apart": (
        {
            "module": CLOSED.format("580.126.09"),
            "apt": {**raw_host()["apt"], "packages": ok(packages("590.48.01", "-1", ""))},
        },
        [
            "module 580.126.09 is loaded, the packages are 590.48.01: reboot the host",
            "closed kernel modules with compute capability 12.0: use nvidia-open",
        ],
    ),
    "A10 a patched module and libraries one release apart": (
        {"apt": {**raw_host()["apt"], "packages": ok(packages("580.159.04"))}},
        ["module 580.159.03 is loaded, the packages are 580.159.04: reboot the host"],
    ),
    "A12 packages of two repositories": (
        {
            "apt": {
                **raw_host()["apt"],
                "packages": ok(
                    packages("580.159.03")
                    + "ii  libnvidia-common-580 580.126.09-0ubuntu0.22.04.1\n"
                ),
            }
        },
        [
            "driver packages of several versions (580.126.09, 580.159.03): "
            "install all of one repository"
        ],
    ),
    "A16 a new kernel without a module": (
        {**smi(NOT_LOADED), "module": "", "loaded": [], "kernel": "5.13.0-1024-gcp"},
        [
            "kernel 5.13.0-1024-gcp has no NVIDIA module: install its headers and run "
            "dkms autoinstall -k 5.13.0-1024-gcp, or boot a kernel that has one"
        ],
    ),
    "A19 Secure Boot": (
        {
            **smi(NOT_LOADED),
            "module": "",
            "log": ok("Loading of module with unavailable key\nKey was rejected by service"),
        },
        [
            "Secure Boot rejected the unsigned NVIDIA module: enrol a key for DKMS (mokutil "
            "--import /var/lib/dkms/mok.pub, then reboot) or turn Secure Boot off",
            "the NVIDIA module is not loaded: modprobe nvidia; look at journalctl -k",
        ],
    ),
    "A20 a version known to be bad": (
        {
            "smi": {**raw_host()["smi"], "gpus": NO_DEVICES},
            "module": OPEN.format("595.58.03"),
            "apt": {**raw_host()["apt"], "packages": ok(packages("595.58.03", "-1", ""))},
            "log": ok("NVRM: GPU 0000:01:00.0: RmInitAdapter failed! (0x62:0x40:2028)"),
        },
        [
            "the driver failed at start (WPR2): power-cycle the host and use another driver version",
            "nvidia-smi: No devices were found, 8 on PCI: look at journalctl -k",
            "driver 595.58.03 is known to be bad, it fails at start "
            "(NVIDIA/open-gpu-kernel-modules#1104): use another version",
        ],
    ),
    "A21 a GPU off the bus": (
        {
            "log": ok(
                "NVRM: Xid (PCI:0000:c1:00): 79, pid=1234, name=VLLM::Worker, GPU has fallen off "
                "the bus.\nNVRM: Xid (PCI:0000:c1:00): 154, GPU recovery action changed from 0x0 "
                "(None) to 0x2 (Node Reboot Required)\nNVRM: Xid (PCI:0000:41:00): 31, pid=77"
            )
        },
        [
            "Xid 79 of GPU 0000:c1:00: fell off the bus: reboot the host; power-cycle it if that "
            "does not help",
            "Xid 154 of GPU 0000:c1:00: the driver asks for a recovery: reboot the host; "
            "power-cycle it if that does not help",
        ],
    ),
    "A22 one wedged GPU of eight": (
        {
            "smi": {
                **raw_host()["smi"],
                "gpus": ok(smi_csv(("NVIDIA RTX PRO 6000", "12.0", 97887), 7, "580.159.03")),
            }
        },
        ["7 GPUs (without driver: 0000:17:00.0), 8 needed: reboot, or set gpu_count"],
    ),
    "a wedged GPU hangs nvidia-smi": (
        smi(HUNG),
        ["nvidia-smi hangs (no answer in 20 s): a GPU is wedged, power-cycle the host"],
    ),
    "no driver at all": (
        {**smi(MISSING), "module": "", "loaded": []},
        ["nvidia-smi is not installed: set driver_source = 'apt', or use a driver image"],
    ),
    "nouveau": (
        {**smi(NOT_LOADED), "module": "", "loaded": ["nouveau"]},
        ["nouveau holds the GPUs: run the driver task (driver_source = 'apt') and reboot"],
    ),
    "a driver older than torch": (
        {**RTX_575, "apt": {**raw_host()["apt"], "packages": ok(packages("570.133.20"))}},
        [
            "driver 570.133.20 is older than 580.65, which the pinned torch needs: set "
            "driver_source = 'apt' and driver_version"
        ],
    ),
    "mixed models": (
        {
            "smi": {
                **raw_host()["smi"],
                "gpus": ok(
                    smi_csv(("NVIDIA RTX PRO 6000", "12.0", 97887), 7, "580.159.03")
                    + "7, NVIDIA L4, 00000000:17:00.0, GPU-7, 8.9, 23034, 0, Enabled, 72.00, 16.0, 0, Enabled, [N/A], 580.159.03\n"
                ),
            }
        },
        [
            "GPUs of several models (NVIDIA L4, NVIDIA RTX PRO 6000): use equal ones",
            "NVIDIA L4, but the route is for RTX PRO 6000: use its route, or set gpu_model",
            "GPU 7 has compute capability 8.9, not 12.0",
            "GPU 7 has 22.5 GiB, 94 needed: use the route for this GPU",
        ],
    ),
    "MIG": (
        {
            "smi": {
                **raw_host()["smi"],
                "gpus": ok(
                    smi_csv(("NVIDIA RTX PRO 6000", "12.0", 97887), 8, "580.159.03", "Enabled")
                ),
            }
        },
        [f"GPU {i} is split (MIG): nvidia-smi -i {i} -mig 0" for i in range(8)],
    ),
    "D2 ACS and IOMMU": (
        {
            "pci": {
                **raw_host()["pci"],
                "iommu_groups": 90,
                "devices": ok(
                    "\t\tACSCtl:\tSrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+\n" * 4
                ),
            }
        },
        [
            "access control (ACS) is on at 4 PCI bridges and the IOMMU translates, which hangs "
            "P2P: turn ACS and IOMMU off in the firmware, or set gpu_p2p_over_acs and let glmstead "
            "nccl decide"
        ],
    ),
    "D11 an interface of another name": (
        {"network": {**raw_host()["network"], "links": links(ens4=8896, enp128s4=8896)}},
        ["there is no interface host0 (found ens4, enp128s4): set cluster_interface of this host"],
    ),
    "D8 the peer is reached through another interface": (
        {
            "network": {
                **raw_host()["network"],
                "routes": {"10.77.42.12": ok('[{"dst":"10.77.42.12","dev":"docker0"}]')},
            }
        },
        [
            "10.77.42.12 is reached through docker0, cluster_interface is host0: set it to the "
            "interface of that route"
        ],
    ),
    "a lost GPU in nvidia-smi's list": (
        {
            "smi": {
                **raw_host()["smi"],
                "gpus": ok(
                    smi_csv(("NVIDIA RTX PRO 6000", "12.0", 97887), 7, "580.159.03")
                    + "7, [GPU is lost], 00000000:17:00.0, [GPU is lost], [GPU is lost], "
                    "[GPU is lost], [GPU is lost], [GPU is lost], [GPU is lost], [GPU is lost], "
                    "[GPU is lost], [GPU is lost], [GPU is lost], [GPU is lost]\n"
                ),
            }
        },
        ["7 GPUs (without driver: 0000:17:00.0), 8 needed: reboot, or set gpu_count"],
    ),
    "C4 G1 G3 an engine that outlived its server": (
        {
            "smi": {
                **raw_host()["smi"],
                "holders": ok("GPU-0, 4242, VLLM::EngineCor, 90112\n"),
            }
        },
        [
            "VLLM::EngineCor (pid 4242) holds 90112 MiB of GPU-0: stop it, or glmstead recover",
        ],
    ),
    "the engine itself holds its GPUs": (
        {
            "smi": {
                **raw_host()["smi"],
                "holders": ok("GPU-0, 4242, VLLM::EngineCor, 90112\n"),
            },
            "limits": {"glmstead-vllm": ""},
        },
        [],
    ),
    "/dev/shm and the clock": (
        {"shm": 64 * 2**20, "clock": ok("no\n")},
        [
            "/dev/shm has 0.1 GB, 32 needed: mount -o remount,size=... /dev/shm",
            "the clock is not synchronised: timedatectl set-ntp true",
        ],
    ),
}


@pytest.mark.parametrize(("fields", "lines"), FIELD.values(), ids=FIELD)
def test_a_field_failure_is_named_with_its_fix(
    before: Before, fields: Raw, lines: list[str]
) -> None:
    assert before(changed(**fields)) == lines


LIMITS: dict[str, tuple[Raw, list[str]]] = {
    "a service with fewer files than its unit declares": (
        {
            "limits": {
                "glmstead-vllm": "Limit                     Soft Limit           Hard Limit           "
                "Units     \nMax open files            1024                 524288               "
                "files     \n"
            }
        },
        [
            "glmstead-vllm runs with 1024 open files, 1048576 declared: raise the host's "
            "fs.nr_open, then systemctl restart glmstead-vllm"
        ],
    ),
    "a service that may lock no memory": (
        {
            "limits": {
                "glmstead-ray-worker": "Limit                     Soft Limit           Hard Limit  "
                "         Units     \nMax stack size            8388608              unlimited   "
                "         bytes     \nMax locked memory         8388608              8388608     "
                "         bytes     \nMax open files            1048576              1048576     "
                "         files     \n"
            }
        },
        [
            "glmstead-ray-worker runs with 8388608 locked memory, unlimited declared: let its "
            "systemd or Docker raise limits (CAP_SYS_RESOURCE), then systemctl restart "
            "glmstead-ray-worker",
            "glmstead-ray-worker runs with 8388608 stack size, 67108864 declared: let its systemd "
            "or Docker raise limits (CAP_SYS_RESOURCE), then systemctl restart glmstead-ray-worker",
        ],
    ),
    "a service with all it declares": (
        {
            "limits": {
                "glmstead-vllm": "Limit                     Soft Limit           Hard Limit        "
                "   Units     \nMax stack size            67108864             67108864          "
                "   bytes     \nMax locked memory         unlimited            unlimited         "
                "   bytes     \nMax open files            1048576              1048576           "
                "   files     \n"
            }
        },
        [],
    ),
}


@pytest.mark.parametrize(("fields", "lines"), LIMITS.values(), ids=LIMITS)
def test_limits_are_those_that_processes_have(
    settings: Callable[..., dict[str, Settings]], fields: Raw, lines: list[str]
) -> None:
    found = gpu_host(changed(**fields))

    assert fitness.of_services(found, settings(route="g4")["@fake/h1"]) == lines
    assert fitness.before(found, settings(route="g4")["@fake/h1"]) == []  # a deploy may mend it


@pytest.mark.parametrize("board", [A100, H200], ids=["A100", "H200"])
def test_another_board_is_refused_by_the_route(before: Before, board: tuple[str, str, int]) -> None:
    lines = before(raw_host(board))

    assert lines[0] == (
        f"{board[0]}, but the route is for RTX PRO 6000: use its route, or set gpu_model"
    )
    assert lines[1] == f"GPU 0 has compute capability {board[1]}, not 12.0"


def test_four_gpus_are_too_few_for_eight(before: Before) -> None:
    assert before(raw_host(count=4)) == ["4 GPUs, 8 needed: reboot, or set gpu_count"]


BARE = {**smi(MISSING), "module": "", "loaded": [], "modules": {"6.8.0-1060-gcp": {}}}
BARE_APT = {
    "packages": ok("ii  linux-image-gcp 6.8.0\n"),
    "held": ok(),
    "check": ok(),
    "lock": None,
}
UNINSTALLABLE: dict[str, tuple[Raw, list[str]]] = {
    "nothing wrong": ({}, []),
    "no GPU": (
        {"pci": {**raw_host()["pci"], "gpus": {}}},
        ["0 NVIDIA GPUs on PCI, 8 needed: attach them, or set gpu_count"],
    ),
    "fewer GPUs than declared": (
        {"pci": {**raw_host()["pci"], "gpus": raw_host(count=6)["pci"]["gpus"]}},
        ["6 NVIDIA GPUs on PCI, 8 needed: attach them, or set gpu_count"],
    ),
    "Secure Boot": (
        {"secure_boot": ok("SecureBoot enabled\n")},
        [
            "Secure Boot is on and would reject the module that is built here: turn it off, or use "
            "an image with a signed driver and driver_source = 'image'"
        ],
    ),
    "A17 a kernel the driver does not know": (
        {"kernel": "7.1.3-1-amd64", "modules": {"7.1.3-1-amd64": {}}},
        [
            "driver 580.159.04 does not build on kernel 7.1.3-1-amd64: boot an older kernel and "
            "remove it, or set a newer driver_version"
        ],
    ),
    "A17 a release candidate of such a kernel": (
        {"kernel": "7.1~rc2-amd64", "modules": {"7.1~rc2-amd64": {}, "6.1.0_site": {}}},
        [
            "driver 580.159.04 does not build on kernel 7.1~rc2-amd64: boot an older kernel and "
            "remove it, or set a newer driver_version"
        ],
    ),
    "a full /boot": (
        {"boot_free": 12_000_000},
        ["12 MB free in /boot, 300 needed for a new initramfs: remove old kernels"],
    ),
    "broken packages": (
        {
            "apt": {
                **BARE_APT,
                "check": ok(
                    "The following packages are only half configured:\n nvidia-dkms-570  NVIDIA DKMS package\n\n"
                ),
            }
        },
        ["half-installed packages (nvidia-dkms-570): run dpkg --configure --pending"],
    ),
    "an unknown distribution": (
        {"os": "ID=fedora\nVERSION_ID=42\n"},
        ["no driver repository for fedora 42: set driver_repository, or use Debian or Ubuntu"],
    ),
}


@pytest.mark.parametrize(("fields", "lines"), UNINSTALLABLE.values(), ids=UNINSTALLABLE)
def test_what_would_stop_the_driver_task_is_said_before_it(
    before: Before, fields: Raw, lines: list[str]
) -> None:
    assert before(changed(**{**BARE, "apt": BARE_APT, **fields}), **APT) == lines


def test_a_log_of_the_driver_that_is_replaced_stops_nothing(before: Before) -> None:
    log = ok("NVRM: GPU 0000:01:00.0: RmInitAdapter failed! (0x22:0x56:884)")

    assert before(changed(**{**BARE, "apt": BARE_APT, "log": log}), **APT) == []


def test_hosts_that_differ_are_told_in_what() -> None:
    here = comparable(gpu_host(raw_host(driver="580.159.04")), "10.77.42.11")
    other = {**raw_host(), "network": {**raw_host()["network"], "links": links(ens4=1460)}}

    assert differences(here, comparable(gpu_host(other), "10.77.42.11"), "h1") == [
        "driver: 580.159.04 here, 580.159.03 on h1: make them equal",
        "MTU: 8896 here, 1460 on h1: make them equal",
    ]


def test_memory_holders_are_found_by_their_gpu() -> None:
    raw = raw_host()
    raw["smi"]["holders"] = ok("GPU-0, 4242, VLLM::EngineCor, 90112\nGPU-1, 77, [N/A], [N/A]\n")
    found = gpu_host(raw)

    assert fitness.holders_of(found, frozenset({77})) == [
        "VLLM::EngineCor (pid 4242) holds 90112 MiB of GPU-0"
    ]
