"""Saves what is known of a host before something is restarted; every step bounded.

Usage: python -m glmstead.watch.evidence CONFIG REASON [on-failure]: with ``on-failure`` only where systemd says that the
unit failed (ExecStopPost). Prints the folder. CONFIG is /etc/glmstead/watch.json.
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

KEPT = 20  # folders
BOUND_S = 15
MOST_STACKS = 24


def said(words: list[str], env: dict[str, str] | None = None) -> str:
    """What a command prints, or why it does not."""
    pipe = subprocess.PIPE
    try:
        process = subprocess.Popen(words, env=env, stdout=pipe, stderr=subprocess.STDOUT)
    except OSError as error:
        return f"{error}\n"
    try:
        return process.communicate(timeout=BOUND_S)[0].decode(errors="replace")
    except subprocess.TimeoutExpired as error:
        process.kill()  # and left behind: nvidia-smi on a wedged GPU cannot die
        return f"{error}\n"


def environment(file: str) -> dict[str, str]:
    """Variables of a systemd environment file."""
    words = shlex.split(Path(file).read_text(), comments=True) if Path(file).exists() else []
    return dict(word.split("=", 1) for word in words if "=" in word)


def text_of(file: Path) -> str:
    """A file of /proc or of a control group; empty when what it tells of ended meanwhile."""
    try:
        return file.read_text(errors="replace")
    except OSError:
        return ""


def engine_pids() -> list[str]:
    """Python processes in the control groups of our units."""
    pids = []
    for group in Path("/sys/fs/cgroup").rglob("glmstead-*.service/cgroup.procs"):
        for pid in text_of(group).split():
            if "python" in os.path.realpath(f"/proc/{pid}/exe"):
                pids.append(pid)
    return pids[:MOST_STACKS]


def stacks(py_spy: str) -> str:
    """Python stacks; a stopped or hung process is read without its help."""
    texts = []
    for pid in engine_pids():
        name = text_of(Path("/proc", pid, "cmdline")).replace("\0", " ")[:120]
        if not name:
            continue
        dump = said([py_spy, "dump", "--nonblocking", "--pid", pid])
        texts.append(f"==== {pid} {name}\n{dump}")
    return "\n".join(texts)


def collect(config: dict[str, object]) -> dict[str, str]:
    """File name -> text."""
    units = [f"--unit={unit}" for unit in _strings(config["units"])]
    variables = environment(str(config["environment"]))
    return {
        "journal.txt": said(["journalctl", "--no-pager", "-n", "3000", "-o", "short-iso", *units]),
        "kernel.txt": said(["journalctl", "--no-pager", "--dmesg", "-n", "200"]),
        "processes.txt": said(["ps", "axfo", "pid,stat,wchan:20,etime,rss,args"]),
        "stacks.txt": stacks(str(config["py_spy"])),
        "gpus.txt": said(["nvidia-smi"]),
        "ray.txt": said(_strings(config["ray"]), env=variables),
        "metrics.txt": said(["curl", "-sS", "-m", "5", f"{config['url']}/metrics"]),
        "memory.txt": said(["sh", "-c", "free -m; df -h; ls -la /dev/shm"]),
    }


def save(config: dict[str, object], reason: str) -> Path:
    """Write one folder, and remove the oldest ones."""
    root = Path(str(config["evidence"]))
    name = "".join(c if c.isalnum() else "-" for c in reason.lower())[:60].strip("-")
    folder = root / f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{name}"
    folder.mkdir(parents=True, mode=0o700, exist_ok=True)
    (folder / "reason.txt").write_text(reason + "\n")
    for file, text in collect(config).items():
        (folder / file).write_text(text)
    for old in sorted(path for path in root.iterdir() if path.is_dir())[:-KEPT]:
        shutil.rmtree(old, ignore_errors=True)
    return folder


def _strings(value: object) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else []


def main(config: str, reason: str, only: str = "") -> int:
    if only == "on-failure" and os.environ.get("SERVICE_RESULT", "success") == "success":
        return 0
    print(save(json.loads(Path(config).read_text()), reason), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
