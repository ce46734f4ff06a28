"""What needs what: architecture, toolkit, driver, kernel; and versions known to be bad."""

import re

from packaging.version import Version

# The release of nvcc that first builds what is built for an architecture. 12.8 knows sm_120, but
# its family form, which FlashInfer builds, came with 12.9 (vllm-project/vllm#50705).
TOOLKIT_OF = {"sm_80": "11.0", "sm_90": "11.8", "sm_90a": "12.0", "sm_100a": "12.8"}
TOOLKIT_OF |= {"sm_120": "12.9", "sm_120a": "12.9", "sm_120f": "12.9"}
CAPABILITY_OF = {"sm_80": "8.0", "sm_90": "9.0", "sm_90a": "9.0", "sm_100a": "10.0"}
CAPABILITY_OF |= {"sm_120": "12.0", "sm_120a": "12.0", "sm_120f": "12.0"}

# CUDA release that a driver branch carries; it loads what a newer minor release compiled for a
# real architecture, but refuses its PTX (error 222), so the toolkit must not be newer.
CUDA_OF = {"535": "12.2", "550": "12.4", "565": "12.7", "570": "12.8", "575": "12.9"}
CUDA_OF |= {"580": "13.0", "590": "13.1", "595": "13.2"}

# Boards that only the open kernel modules drive.
OPEN_ONLY = Version("10.0")

# Branch -> first kernel that its module does not build on.
KERNEL_LIMIT = {"580": "7.1"}  # damentz/liquorix-package#227

DENIED = {
    "595.58.03": "it fails at start (NVIDIA/open-gpu-kernel-modules#1104)",
}

REPOSITORIES = {
    ("debian", "12"): "debian12",
    ("debian", "13"): "debian13",
    ("ubuntu", "22.04"): "ubuntu2204",
    ("ubuntu", "24.04"): "ubuntu2404",
}
MACHINES = {"x86_64": "x86_64", "aarch64": "sbsa"}


def branch(version: str) -> str:
    """``580`` of ``580.159.04``."""
    return version.split(".")[0]


def driver_for(toolkit: str) -> str | None:
    """Oldest branch whose CUDA release is that of a toolkit, or newer."""
    fitting = [b for b, cuda in CUDA_OF.items() if Version(cuda) >= Version(toolkit)]
    return min(fitting, default=None)


def kernel_is_too_new(kernel: str, driver: str) -> bool:
    """Whether the module of a driver does not build on a kernel such as ``7.1.3-1-amd64``."""
    limit = KERNEL_LIMIT.get(branch(driver))
    # a release candidate (7.1~rc2-amd64) or a site's own name may follow
    digits = re.match(r"\d+(\.\d+)*", kernel)
    return bool(limit and digits and Version(digits[0]) >= Version(limit))
