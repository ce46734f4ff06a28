"""Known troubles in the kernel's log, each named once with its cause."""

import re
from collections.abc import Iterator

from glmstead.gpu.values import Finding

_RESTART = "reboot the host; power-cycle it if that does not help"
# Xids that leave a GPU unusable; the others come from programs and pass with them.
XIDS = {
    48: ("uncorrectable memory error", "reboot, and have the GPU replaced if it returns"),
    62: ("its microcontroller stopped", _RESTART),
    64: ("memory could not be retired", "have the GPU replaced"),
    74: ("NVLink error", _RESTART),
    79: ("fell off the bus", _RESTART),
    95: ("uncontained memory error", "reboot, and have the GPU replaced if it returns"),
    119: ("its firmware (GSP) does not answer", _RESTART),
    120: ("its firmware (GSP) stopped", _RESTART),
    154: ("the driver asks for a recovery", _RESTART),
}
_OPEN = "install the open kernel modules (driver_source = 'apt')"
_CAUSES: tuple[tuple[str, str, str], ...] = (
    (
        r"requires use of the NVIDIA open kernel modules|RmInitAdapter failed! \(0x22:0x56:",
        "the closed kernel module does not know this GPU",
        f"{_OPEN}; with open modules, enable Above 4G Decoding",  # open-gpu-kernel-modules#862
    ),
    (
        r"RmInitAdapter failed! \(0x62:0x40:|WPR2",
        "the driver failed at start (WPR2)",  # NVIDIA/open-gpu-kernel-modules#1104
        "power-cycle the host and use another driver version",
    ),
    (
        r"Key was rejected by service|Lockdown:.*unsigned module",
        "Secure Boot rejected the unsigned NVIDIA module",  # dkms-project/dkms#347
        "enrol a key for DKMS (mokutil --import /var/lib/dkms/mok.pub, then reboot) "
        "or turn Secure Boot off",
    ),
    (
        r"BAR\d is 0M @ 0x0|PCI I/O region assigned to your NVIDIA device is invalid",
        "the firmware gave a GPU no address space",
        "enable Above 4G Decoding and Resizable BAR in the firmware",
    ),
)
_XID = re.compile(r"Xid \(PCI:([0-9a-fA-F:.]+)\): (\d+)")


def findings(text: str) -> Iterator[Finding]:
    """Each cause once, and each GPU's Xids that need a hand, in the log's order."""
    for pattern, what, fix in _CAUSES:
        if re.search(pattern, text):
            yield Finding(what, fix)
    for gpu, number in dict.fromkeys(_XID.findall(text)):
        if int(number) in XIDS:
            what, fix = XIDS[int(number)]
            yield Finding(f"Xid {number} of GPU {gpu}: {what}", fix)
