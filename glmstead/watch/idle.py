"""Scale to zero, the watch's half: stops an engine nobody used, starts it when somebody asks."""

import subprocess
import time
from pathlib import Path
from typing import Any

from glmstead.watch.liveness import Look


class Idle:
    """``config`` is the section "idle" of the watch's configuration, times in seconds."""

    def __init__(self, config: dict[str, Any], unit: str) -> None:
        self.config = config
        self.used = Path(config["folder"], "used")
        self.wake = Path(config["folder"], "wake")
        self.waking = Path(config["folder"], "waking")  # the gateway lets new ones wait, too
        self.asleep = Path("/run/glmstead", unit, "asleep")
        self.started = time.time()
        self.bound_s = 120.0  # of a site's own command
        service = f"{unit}.service"
        self.stop = config["stop_command"] or f"systemctl stop --no-block {service}"
        self.start = config["start_command"] or f"systemctl start --no-block {service}"

    def wake_up(self) -> bool:
        """Start the engine when it sleeps and somebody waits; whether it did."""
        if not self.wake.exists():
            return False
        self.wake.unlink(missing_ok=True)
        if not self.asleep.exists():
            return False
        self.waking.touch()
        self.asleep.unlink()
        self.started = time.time()
        print("somebody asks: waking the engine", flush=True)
        self._run(self.start)
        return True

    def fall_asleep(self, seen: Look) -> bool:
        """Stop the engine when nobody used it for long enough; whether it did.

        A server too busy to say what it does is no idle one.
        """
        last = self.used.stat().st_mtime if self.used.exists() else 0.0
        idle_s = time.time() - max(last, self.started)
        if seen.counter is None or seen.unfinished or idle_s < self.config["after_s"]:
            return False
        self.asleep.touch()  # first: nothing may start it between the two
        print(f"nobody asked for {idle_s:.0f} s: the engine sleeps", flush=True)
        self._run(self.stop)
        return True

    def _run(self, command: str) -> None:
        """A site's own command may hang: the watch outlives it."""
        try:
            subprocess.run(["/bin/sh", "-c", command], check=False, timeout=self.bound_s)
        except subprocess.TimeoutExpired as error:
            print(error, flush=True)
