"""Programs that run on a host under its plain python3: standard library only, JSON in, JSON out.

One program answers everything a task must know, so that a task costs one round trip.
"""

import json
from pathlib import Path
from typing import Any

from pyinfra.api import QuoteString, StringCommand

from glmstead.probe_source import FOLDER, probe_source


def probe_command(program: str | Path, request: Any) -> StringCommand:
    """Command that runs a program (a name in this folder, or a file) with one JSON argument.

    Never put a secret into ``request``: it stands in argv.
    """
    source = probe_source((FOLDER / program).with_suffix(".py"))
    return StringCommand("python3 -c", QuoteString(source), QuoteString(json.dumps(request)))
