"""Counts a unit's failed starts in a row: a start limit about failures, not about time.

systemd's own limit counts starts in a window: ten faults that each healed fill it, a crash loop
that loads for twenty minutes never does.

Usage, in the unit; FOLDER is its RuntimeDirectory:
  ExecCondition  attempts.py may-start FOLDER
                 waits longer each time, refuses after LIMIT
  ExecStopPost   attempts.py ended FOLDER UNIT [RESTART [SETTLED_S]]
                 counts, unless it had served for SETTLED_S; and has unit RESTART restarted, so that
                 every rank of the engine ends with it
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

LIMIT = 5
WAITS_S = (0, 0, 30, 90, 270)
GAVE_UP, ASLEEP = 1, 2


def failed(folder: str) -> "dict[str, object]":
    """What is known of the failures in a row: {"count": ...}."""
    try:
        document = json.loads(Path(folder, "failed").read_text())
    except (OSError, ValueError):
        return {"count": 0}
    return document if isinstance(document, dict) else {"count": 0}


def may_start(folder: str) -> int:
    """Wait, then 0; else a status that systemd takes for a condition that does not hold."""
    if Path(folder, "asleep").exists():
        print("asleep: the next request starts it", flush=True)
        return ASLEEP
    count = int(str(failed(folder)["count"]))
    if count >= LIMIT:
        print(f"gave up after {count} failed starts in a row; next: glmstead recover", flush=True)
        return GAVE_UP
    if WAITS_S[count]:
        print(f"{count} failed starts in a row: waiting {WAITS_S[count]} s", flush=True)
    time.sleep(WAITS_S[count])
    return 0


def ended(folder: str, unit: str, restart: str = "", settled_s: str = "120") -> int:
    """Count, unless somebody asked the unit to stop or it only waited for the other hosts.

    A stop because RESTART failed, to which the unit is bound, was asked for by nobody.
    """
    below_failed = bool(restart) and shown(restart, "Result")["Result"] != "success"
    refused = os.environ.get("SERVICE_RESULT") == "exec-condition"
    asked = asked_to_stop(unit) and not below_failed
    if refused or asked or Path(folder, "waiting").exists():
        return 0
    count = 1 if served_s(unit) >= float(settled_s) else int(str(failed(folder)["count"])) + 1
    names = ("SERVICE_RESULT", "EXIT_CODE", "EXIT_STATUS")
    how = " ".join(os.environ.get(name, "?") for name in names)
    new = Path(folder, "failed.new")
    start = os.environ.get("INVOCATION_ID", "")  # whose journal says why
    new.write_text(json.dumps({"count": count, "how": how, "at": time.time(), "start": start}))
    new.rename(Path(folder, "failed"))
    if restart and not below_failed and count < LIMIT:  # what failed restarts by itself
        subprocess.run(["systemctl", "restart", "--no-block", restart], check=True)
    return 0


def asked_to_stop(unit: str) -> bool:
    """Whether a job to stop or restart the unit runs: then it did not end by itself.

    A start that was asked for meanwhile takes the place of the stop.
    """
    jobs = subprocess.run(
        ["systemctl", "list-jobs", "--no-legend", "--plain", unit],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    rows = [line.split() for line in jobs.splitlines()]
    clean = os.environ.get("SERVICE_RESULT") == "success"
    verbs = ("stop", "restart", *(["start"] if clean else []))
    return any(row[1] == unit and row[2] in verbs for row in rows if row[2:])


def shown(unit: str, *names: str) -> "dict[str, str]":
    """Properties of a unit."""
    words = ["systemctl", "show", "-p", ",".join(names), unit]
    said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    return dict(line.split("=", 1) for line in said.splitlines())


def served_s(unit: str) -> float:
    """Seconds since the unit became active; 0 where this start has not."""
    names = ("InactiveExitTimestampMonotonic", "ActiveEnterTimestampMonotonic")
    stamps = shown(unit, *names)
    began, active = (int(stamps[name]) / 1e6 for name in names)
    return time.clock_gettime(time.CLOCK_MONOTONIC) - active if active > began else 0.0


if __name__ == "__main__":
    sys.exit(may_start(*sys.argv[2:]) if sys.argv[1] == "may-start" else ended(*sys.argv[2:]))
