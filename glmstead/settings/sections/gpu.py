"""Sections about GPUs: the boards, NVIDIA's driver, the CUDA compiler, the container runtime."""

from typing import Annotated, Literal

from pydantic import Field

from glmstead.settings.sections.base import Section, Strings

DriverVersion = Annotated[str, Field(pattern=r"^\d{3}\.\d+(\.\d+)?$")]
# Written into apt's sources: one address, with nothing behind it.
AptAddress = Annotated[str, Field(pattern=r"^(https?://[^\s/]|file:/)\S*$")]
ToolkitVersion = Annotated[str, Field(pattern=r"^\d{2}\.\d$")]


class GpuSettings(Section):
    """The GPUs of a host (``gpu_``)."""

    count: int = Field(default=0, ge=0, description="GPUs of a host; 0: it is not looked at GPUs")
    model: str | None = Field(default=None, description="part of the GPUs' name")
    capability: str | None = Field(
        default=None, pattern=r"^\d+\.\d$", description="compute capability, as 12.0"
    )
    memory_gib: float | None = Field(default=None, gt=0, description="least memory of a GPU, GiB")
    power_limit_w: int | None = Field(
        default=None, ge=50, description="power limit of every GPU, W; None: as it is"
    )
    p2p_over_acs: bool = Field(
        default=False, description="accept PCIe access control (ACS), which can hang P2P"
    )


class DriverSettings(Section):
    """NVIDIA's driver (``driver_``)."""

    source: Literal["none", "image", "apt"] = Field(
        default="none", description="image: the host's own is checked and protected, not replaced"
    )
    version: DriverVersion | None = Field(
        default=None, description="source apt: full version, such as 580.159.04"
    )
    minimum: DriverVersion = Field(default="580.65", description="oldest version that will do")
    repository: AptAddress | None = Field(
        default=None,
        description="apt repository (a mirror) instead of NVIDIA's, as https://mirror.site/nvidia",
    )
    key_url: AptAddress | None = Field(
        default=None, description="address of its signing key, as https://...; None: NVIDIA's"
    )
    key_fingerprint: str | None = Field(
        default=None,
        pattern=r"^[0-9A-F]{40}$",
        description="fingerprint of that key; None: NVIDIA's known one",
    )
    packages: Strings = Field(
        default=(), description="driver packages; empty: open kernel modules, no desktop"
    )
    allow_reboot: bool = Field(default=False, description="reboot a host whose driver needs it")
    reboot_timeout_s: int = Field(default=900, ge=30, description="bound on a reboot, seconds")
    lock_wait_s: int = Field(default=300, ge=0, description="wait for another apt or dpkg, seconds")


class CudaSettings(Section):
    """The CUDA compiler that kernels are built with at start (``cuda_``)."""

    source: Literal["none", "wheel", "apt"] = Field(
        default="none", description="wheel: from the engine's lock; apt: cuda-toolkit-X-Y"
    )
    version: ToolkitVersion = Field(default="13.0", description="release, that of torch's CUDA")
    architecture: str = Field(
        default="sm_120a", pattern=r"^sm_\d{2,3}[af]?$", description="what kernels are built for"
    )


class ContainerSettings(Section):
    """The container runtime of image routes (``container_``)."""

    runtime: Literal["none", "docker", "apptainer"] = Field(
        default="none", description="docker: with GPUs; apptainer: an image built elsewhere"
    )
    packages: Strings = Field(
        default=("docker.io",), description="Debian packages of the container engine"
    )
    toolkit: bool = Field(
        default=True, description="NVIDIA's container toolkit, which writes the CDI specification"
    )
    log_max_mb: int = Field(default=100, ge=1, description="size of a container's log file, MB")
    log_files: int = Field(default=5, ge=1, description="log files kept a container")
