"""The driver: the module in the kernel, the modules on disk, the packages."""

import re
from fnmatch import fnmatchcase

LIBRARIES = re.compile(
    r"^(libnvidia-compute(-\d+(-server)?)?|libcuda1|libnvidia-ml1|libnvidia-common(-\d+(-server)?)?"
    r"|nvidia-utils(-\d+(-server)?)?|nvidia-driver-cuda)$"
)
# All of the driver under the names of NVIDIA, Debian and Ubuntu, and nothing that shares their
# prefix with a version of its own (libnvidia-container, libnvidia-egl-wayland, nvidia-cuda-*).
DRIVER_GLOBS = (
    *("cuda-drivers*", "firmware-nvidia*", "libcuda1", "libcudadebugger1", "libnvcuvid1"),
    *("libnvidia-allocator*", "libnvidia-api*", "libnvidia-cfg*", "libnvidia-common*"),
    *("libnvidia-compute*", "libnvidia-decode*", "libnvidia-eglcore*", "libnvidia-encode*"),
    *("libnvidia-extra*", "libnvidia-fbc*", "libnvidia-gl*", "libnvidia-gpucomp*"),
    *("libnvidia-ml*", "libnvidia-ngx*", "libnvidia-nscq*", "libnvidia-nvvm*"),
    *("libnvidia-opticalflow*", "libnvidia-pkcs11*", "libnvidia-present*"),
    *("libnvidia-ptxjitcompiler*", "libnvidia-rtcore*", "libnvidia-sandboxutils*", "libnvsdm*"),
    *("nvidia-alternative*", "nvidia-compute-utils*", "nvidia-dkms*", "nvidia-driver*"),
    *("nvidia-fabricmanager*", "nvidia-firmware*", "nvidia-headless*", "nvidia-imex*"),
    *("nvidia-kernel-*", "nvidia-legacy*", "nvidia-libopencl*", "nvidia-modprobe*"),
    *("nvidia-open*", "nvidia-opencl*", "nvidia-persistenced*", "nvidia-settings*"),
    *("nvidia-smi*", "nvidia-suspend*", "nvidia-utils*", "nvidia-vdpau*", "nvidia-vulkan*"),
    *("nvidia-xconfig*", "xserver-xorg-video-nvidia*"),
)
# linux-modules-nvidia and its like are Ubuntu's signed modules: versioned as the kernel.
KERNEL_GLOBS = (
    *("linux-image-*", "linux-headers-*", "linux-modules-*", "linux-objects-nvidia*"),
    *("linux-signatures-nvidia*", "linux-generic*", "linux-virtual*", "linux-gcp*", "linux-aws*"),
    "linux-azure*",
)


def upstream(version: str) -> str:
    """``580.159.04`` of ``1:580.159.04-0ubuntu1``."""
    return version.split(":")[-1].rsplit("-", 1)[0]


def is_driver_package(name: str) -> bool:
    """Whether a package is part of the driver, whatever distribution it comes from."""
    return any(fnmatchcase(name, glob) for glob in DRIVER_GLOBS)


def is_kernel_package(name: str) -> bool:
    """Whether a package is a kernel, its headers or its modules."""
    return any(fnmatchcase(name, glob) for glob in KERNEL_GLOBS)


def is_protected(name: str) -> bool:
    """Whether an upgrade of this package can take the GPUs away."""
    return is_driver_package(name) or is_kernel_package(name)


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
