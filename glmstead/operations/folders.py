"""Folders of root's, in one round trip."""

from collections.abc import Generator, Sequence

from pyinfra import host
from pyinfra.api import QuoteString, StringCommand, operation
from pyinfra.facts.files import Directory


@operation()
def folders(paths: Sequence[str]) -> Generator[StringCommand, None, None]:
    """
    Ensure folders exist.

    + paths: absolute paths
    """
    missing = [path for path in paths if not host.get_fact(Directory, path=path)]
    if missing:
        yield StringCommand("mkdir -p", *(QuoteString(path) for path in missing))
    else:
        host.noop(f"all {len(paths)} folders are there")
