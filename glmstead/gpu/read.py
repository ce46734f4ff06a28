"""The probe's texts to one typed value."""

import json
import re
from collections.abc import Iterator
from typing import Any

from glmstead.gpu import driver, kernel_log, pci, smi
from glmstead.gpu.values import Driver, GpuHost, Nic, Toolchain

_LIMITS = ("Max open files", "Max locked memory", "Max stack size")


def gpu_host(raw: dict[str, Any]) -> GpuHost:
    """What ``probes.gpu`` told, typed."""
    state, error = smi.state_of(raw["smi"]["gpus"])
    return GpuHost(
        smi=state,
        smi_error=error,
        gpus=tuple(smi.gpus(raw["smi"]["gpus"]["text"])) if state == "ok" else (),
        pci_gpus=tuple(sorted(raw["pci"]["gpus"])),
        numa={gpu: pci.numa_node(one["numa"]) for gpu, one in sorted(raw["pci"]["gpus"].items())},
        holders=tuple(smi.holders(_text(raw["smi"], "holders"))),
        topology=_text(raw["smi"], "topology"),
        driver=_driver(raw),
        system=_system(raw["os"]),
        machine=raw["machine"],
        kernel=raw["kernel"],
        kernels=tuple(raw["modules"]),
        boot_id=raw["boot_id"],
        secure_boot=pci.secure_boot(raw["secure_boot"]),
        acs_bridges=pci.acs_bridges(raw["pci"]["devices"]["text"]),
        iommu=pci.iommu_is_on(raw["command_line"], raw["pci"]["iommu_groups"]),
        nics=tuple(_nics(raw["network"])),
        routes=dict(_routes(raw["network"])),
        toolchain=_toolchain(raw["toolchain"]),
        held=tuple(raw["apt"]["held"]["text"].split()),
        apt_broken=_broken(raw["apt"]["check"]),
        apt_lock=_lock(raw["apt"]["lock"]),
        limits={unit: _limits(text) for unit, text in raw["limits"].items()},
        shm=raw["shm"],
        boot_free=raw["boot_free"],
        clock_synchronised={"yes": True, "no": False}.get(raw["clock"]["text"].strip()),
        findings=tuple(kernel_log.findings(raw["log"]["text"])),
    )


def _text(answers: dict[str, Any], name: str) -> str:
    return str(answers.get(name, {}).get("text", ""))


def _driver(raw: dict[str, Any]) -> Driver:
    version, is_open = driver.loaded(raw["module"])
    installed = driver.packages(raw["apt"]["packages"]["text"])
    return Driver(
        loaded=version,
        is_open=is_open,
        libraries=driver.libraries(installed),
        packages=installed,
        built=driver.built(raw["modules"]),
        nouveau="nouveau" in raw["loaded"],
        cuda=smi.cuda_version(_text(raw["smi"], "version"), _text(raw["smi"], "summary")),
    )


def _system(text: str) -> tuple[str, str]:
    """``("debian", "12")`` of /etc/os-release."""
    fields = dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', text, re.M))
    return fields.get("ID", ""), fields.get("VERSION_ID", "")


def _nics(network: dict[str, Any]) -> Iterator[Nic]:
    for link in _objects(network["links"]):
        addresses = tuple(one["local"] for one in link.get("addr_info", []))
        speed = network["speeds"].get(link["ifname"], "")
        yield Nic(link["ifname"], addresses, link["mtu"], int(speed) if speed.isdigit() else None)


def _routes(network: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Interface by which each peer is reached; empty for an unreachable one."""
    for peer, answer in network["routes"].items():
        yield peer, next((one.get("dev", "") for one in _objects(answer)), "")


def _objects(answer: dict[str, Any]) -> list[dict[str, Any]]:
    """What ``ip -j`` told; iproute2 prints {} for what its filter left out."""
    try:
        return [one for one in json.loads(answer["text"] or "[]") if one]
    except ValueError:
        return []


def _toolchain(raw: dict[str, Any]) -> Toolchain:
    def release(name: str, pattern: str) -> str | None:
        found = re.search(pattern, raw[name]["text"]) if raw[name]["status"] == "ok" else None
        return found[1] if found else None

    return Toolchain(
        cuda_home=raw["cuda_home"],
        nvcc=release("nvcc", r"release (\d+\.\d+)"),
        ninja=release("ninja", r"^(\d+(?:\.\d+)+)"),
        cxx=release("g++", r"\) (\d+(?:\.\d+)+)"),
        error=raw["nvcc"]["error"],
    )


def _broken(audit: dict[str, Any]) -> str:
    """What ``dpkg --audit`` complains about: a package a line behind a blank."""
    rows = audit["text"].splitlines()
    return ", ".join(line.split()[0] for line in rows if line.startswith(" ") and line.strip())


def _lock(holder: dict[str, Any] | None) -> str:
    return f"{holder['process']} (pid {holder['pid']})" if holder else ""


def _limits(text: str) -> dict[str, str]:
    rows = (re.split(r"\s{2,}", line) for line in text.splitlines())
    return {row[0]: row[1] for row in rows if row[0] in _LIMITS and len(row) > 2}
