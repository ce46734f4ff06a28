"""Typed values of a GPU host. MiB, watts, bytes; None: the driver does not tell."""

from dataclasses import dataclass, field
from typing import Literal

SmiState = Literal["ok", "missing", "no devices", "mismatch", "not loaded", "hung", "failed"]


@dataclass(frozen=True)
class Gpu:
    """One GPU, as nvidia-smi tells it."""

    index: int
    name: str
    pci: str
    uuid: str
    capability: str
    memory_mib: int
    used_mib: int
    ecc: bool | None
    power_limit_w: float | None
    power_draw_w: float | None
    utilization: int | None
    persistence: bool
    mig: bool
    driver: str


@dataclass(frozen=True)
class Holder:
    """A process that holds GPU memory, found by its GPU, never by its name."""

    gpu: str
    pid: int
    process: str
    used_mib: int | None


@dataclass(frozen=True)
class Driver:
    """The kernel's half of the driver and the libraries' half, which must be one version."""

    loaded: str | None
    is_open: bool | None
    libraries: tuple[str, ...]
    packages: dict[str, str] = field(default_factory=dict)
    built: dict[str, str] = field(default_factory=dict)
    nouveau: bool = False
    cuda: str | None = None


@dataclass(frozen=True)
class Finding:
    """A known trouble in the kernel's log: what it means and what to do."""

    what: str
    fix: str


@dataclass(frozen=True)
class Nic:
    """A network interface; ``speed_mbit`` is None where the card does not say."""

    name: str
    addresses: tuple[str, ...]
    mtu: int
    speed_mbit: int | None


@dataclass(frozen=True)
class Toolchain:
    """The compilers as the service user finds them in the services' environment."""

    cuda_home: str
    nvcc: str | None
    ninja: str | None
    cxx: str | None
    error: str


@dataclass(frozen=True)
class GpuHost:
    """Everything one probe tells of a host."""

    smi: SmiState
    smi_error: str
    gpus: tuple[Gpu, ...]
    pci_gpus: tuple[str, ...]
    numa: dict[str, int | None]
    holders: tuple[Holder, ...]
    topology: str
    driver: Driver
    system: tuple[str, str]
    machine: str
    kernel: str
    kernels: tuple[str, ...]
    boot_id: str
    secure_boot: bool | None
    acs_bridges: int
    iommu: bool
    nics: tuple[Nic, ...]
    routes: dict[str, str]
    toolchain: Toolchain
    held: tuple[str, ...]
    apt_broken: str
    apt_lock: str
    limits: dict[str, dict[str, str]]
    shm: int
    boot_free: int
    clock_synchronised: bool | None
    findings: tuple[Finding, ...]
