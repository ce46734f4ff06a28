"""The driver: the module in the kernel, the modules on disk, the packages."""

import re

LIBRARIES = re.compile(
    r"^(libnvidia-compute(-\d+(-server)?)?|libcuda1|libnvidia-ml1|libnvidia-common(-\d+(-server)?)?"
    r"|nvidia-utils(-\d+(-server)?)?|nvidia-driver-cuda)$"
)
DRIVER = re.compile(
    r"^(nvidia-(open|driver|kernel|dkms|headless|utils|compute|firmware|settings|modprobe"
    r"|persistenced|fabricmanager|imex|smi|vulkan|egl|opencl|xconfig|suspend|alternative|legacy)"
    r"|libnvidia-|libnv|libcuda1$|cuda-drivers|firmware-nvidia|xserver-xorg-video-nvidia"
    r"|linux-(modules|objects|signatures)-nvidia)"
)
KERNEL = re.compile(
    r"^linux-(image|headers|modules|modules-extra)-|^linux-(generic|gcp|aws|azure|virtual)"
)
# Share the prefix, but come with another product and other versions.
_OTHER = re.compile(r"^(libnvidia-container|nvidia-container|libnvidia-egl|nvidia-cuda-)")


def upstream(version: str) -> str:
    """``580.159.04`` of ``1:580.159.04-0ubuntu1``."""
    return version.split(":")[-1].rsplit("-", 1)[0]


def is_driver_package(name: str) -> bool:
    """Whether a package is part of the driver, whatever distribution it comes from."""
    return bool(DRIVER.match(name)) and not _OTHER.match(name)


def is_protected(name: str) -> bool:
    """Whether an upgrade of this package can take the GPUs away."""
    return is_driver_package(name) or bool(KERNEL.match(name))


def packages(text: str) -> dict[str, str]:
    """``{package: version}`` of dpkg-query's lines (abbreviated state, name, version)."""
    rows = (line.split() for line in text.splitlines())
    return {row[1]: row[2] for row in rows if len(row) == 3}


def libraries(installed: dict[str, str]) -> tuple[str, ...]:
    """Versions of the user's half; more than one means two repositories were mixed."""
    found = {upstream(v) for name, v in installed.items() if LIBRARIES.match(name)}
    return tuple(sorted(found))


def loaded(text: str) -> tuple[str | None, bool | None]:
    """Version and openness of /proc/driver/nvidia/version."""
    found = re.search(r"^NVRM version:.*?Module(?: for \S+)?\s+(\d{3}\.[\d.]+)", text, re.M)
    return (found[1], "Open Kernel Module" in text) if found else (None, None)


def built(modules: dict[str, dict[str, str]]) -> dict[str, str]:
    """``{kernel: version of its NVIDIA module}``; empty where there is none."""
    return {kernel: fields.get("version", "") for kernel, fields in modules.items()}
