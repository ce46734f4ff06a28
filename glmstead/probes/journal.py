"""Says what units have logged; argument: {"units": [...], "since": text, UTC, "lines": n or null}.

Answers {"lines": [[microseconds since 1970, unit, text], ...], "error": text}; patterns are allowed.
"""

import json
import os
import subprocess
import sys


def text(value: object) -> str:
    """A message; journald gives bytes that are no UTF-8 as a list of numbers."""
    if isinstance(value, list):
        return bytes(value).decode(errors="replace")
    return str(value)


def main(request: "dict[str, object]") -> None:
    units = request["units"]
    words = ["journalctl", "--no-pager", "-o", "json"]
    words += ["-n", str(request["lines"])] if request["lines"] else []
    words += [f"--unit={unit}" for unit in (units if isinstance(units, list) else [])]
    words += [f"--since={request['since']}"] if request["since"] else []
    utc = {**os.environ, "TZ": "UTC"}
    done = subprocess.run(words, env=utc, capture_output=True, text=True, timeout=60)
    entries = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    lines = [
        [
            int(one["__REALTIME_TIMESTAMP"]),
            one.get("UNIT") or one.get("_SYSTEMD_UNIT", ""),
            text(one.get("MESSAGE", "")),
        ]
        for one in entries
    ]
    error = done.stderr.strip().splitlines()[-1:] if done.returncode else []
    print(json.dumps({"lines": lines, "error": "".join(error)}))


main(json.loads(sys.argv[1]))
