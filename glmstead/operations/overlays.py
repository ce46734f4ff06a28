"""Modules of an overlay are imported once after they or what they lie in has changed."""

from collections.abc import Generator, Sequence

from pyinfra import host
from pyinfra.api import QuoteString, StringCommand, operation

from glmstead import places
from glmstead.facts.files import FileStates
from glmstead.operations.managed_files import ManagedFile, write_command

_IMPORT = """\
import importlib, sys
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
    except Exception as error:
        sys.exit(f"{name} does not import: {type(error).__name__}: {error}")
"""


@operation()
def imported(
    modules: Sequence[str], python: str, content: str
) -> Generator[StringCommand, None, None]:
    """
    Refuse modules that do not import beside this engine: before it loads for minutes.

    + modules: names to import
    + python: interpreter of the environment
    + content: what the answer depends on; another one is asked again
    """
    stamp = ManagedFile(places.OVERLAY_IMPORTED, f"{content}\n")
    if host.get_fact(FileStates, paths=[stamp.path])[stamp.path] == stamp.state:
        host.noop(f"{len(modules)} modules import")
        return
    names = [QuoteString(name) for name in modules]
    yield StringCommand(QuoteString(python), "-c", QuoteString(_IMPORT), *names)
    yield write_command(stamp)
