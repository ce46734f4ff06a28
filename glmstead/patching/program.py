"""The probe as one command: the sources that hosts run are the very ones tested here."""

import base64
import json
import zlib
from functools import cache
from pathlib import Path
from typing import Any

from pyinfra.api import QuoteString, StringCommand

MODULES = (
    *("releases", "verdicts", "source", "edits", "rules", "execution", "engine"),
    *("packages", "writer", "store", "environment", "probe"),
)
# the folder that ``python -c`` was started in must not shadow what the services import
_LOADER = """
import base64, json, sys, types, zlib
sys.path[:] = [entry for entry in sys.path if entry]
load = lambda text: json.loads(zlib.decompress(base64.b85decode(text)))
for name, source in load(sys.argv[1]):
    module = sys.modules[name] = types.ModuleType(name)
    exec(compile(source, name, "exec"), module.__dict__)
sys.exit(module.main(load(sys.argv[2])))
"""


def program_arguments(request: dict[str, Any]) -> list[str]:
    """Arguments that make a Python 3.10 or newer answer a request (see ``probe``)."""
    return ["-c", _LOADER, _bundle(), _packed(request)]


def program_command(python: str, request: dict[str, Any]) -> StringCommand:
    """Shell command that answers a request under ``python``."""
    arguments = [QuoteString(argument) for argument in program_arguments(request)]
    return StringCommand(QuoteString(python), *arguments)


@cache
def _bundle() -> str:
    folder, package = Path(__file__).parent, __package__
    parents: list[tuple[str, str]] = [(package.partition(".")[0], ""), (package, "")]
    modules = [(f"{package}.{name}", (folder / f"{name}.py").read_text()) for name in MODULES]
    return _packed(parents + modules)


def _packed(value: Any) -> str:
    # compressed: one argument of a Linux command may not exceed 128 KiB
    return base64.b85encode(zlib.compress(json.dumps(value).encode(), 9)).decode()
