"""Says what a GPU host is, as its own programs and files tell it; standard library only.

Argument: {"root", "user", "environment", "units", "peers", "seconds"}. Every program is asked within a time
limit, because nvidia-smi hangs on a wedged GPU; each answer is {"status": ok | missing | failed |
hung, "text", "error"}. Nothing is parsed here: texts go to ``glmstead.gpu``, which is tested on
recorded ones. ``root`` is / on a host, and a folder of recorded files in a test.
"""

import json
import platform

from glmstead.probes.asking import asked, text
from glmstead.probes.gpu_boards import log, modules, pci, smi
from glmstead.probes.gpu_surroundings import apt, network, size, toolchain, unit_limits

print(
    json.dumps(
        {
            "machine": platform.machine(),
            "os": text("etc/os-release"),
            "kernel": text("proc/sys/kernel/osrelease").strip() or platform.release(),
            "boot_id": text("proc/sys/kernel/random/boot_id").strip(),
            "command_line": text("proc/cmdline").strip(),
            "smi": smi(),
            "module": text("proc/driver/nvidia/version"),
            "loaded": [line.split()[0] for line in text("proc/modules").splitlines() if line],
            "modules": modules(),
            "secure_boot": asked("mokutil", "--sb-state"),
            "pci": pci(),
            "network": network(),
            "toolchain": toolchain(),
            "apt": apt(),
            "limits": unit_limits(),
            "shm": size("dev/shm", "f_blocks"),
            "boot_free": size("boot", "f_bavail"),
            "clock": asked("timedatectl", "show", "-p", "NTPSynchronized", "--value"),
            "log": log(),
        }
    )
)
