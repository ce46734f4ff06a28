"""Says whether journald runs with the configuration on disk; argument: {"path": drop-in}.

Answers {"digest": sha256 or null, "stale": journald is older than the file}.
"""

import hashlib
import json
import subprocess
import sys
from pathlib import Path


def started_at() -> float:
    """Unix time at which journald was started; 0 where it does not run."""
    words = ["systemctl", "show", "-P", "MainPID", "systemd-journald.service"]
    pid = subprocess.run(words, capture_output=True, text=True).stdout.strip()
    process = Path("/proc", pid or "0")
    return process.stat().st_mtime if process.exists() and pid != "0" else 0.0


path = Path(json.loads(sys.argv[1])["path"])
digest = hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else None
stale = path.exists() and path.stat().st_mtime > started_at()
print(json.dumps({"digest": digest, "stale": stale}))
