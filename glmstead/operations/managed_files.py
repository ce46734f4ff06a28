"""Files that are wholly ours: compared in one round trip, written atomically, never through /tmp."""

from collections.abc import Generator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import PurePosixPath

from pyinfra import host
from pyinfra.api import QuoteString, StringCommand, operation

from glmstead.facts.files import FileStates
from glmstead.operations.turns import in_turn


@dataclass(frozen=True)
class ManagedFile:
    """A file as it should be; ``text`` ends with a newline, ``mode`` is octal digits."""

    path: str
    text: str
    mode: str = "644"
    owner: str = "root:root"

    @property
    def state(self) -> list[str]:
        """What FileStates says of this file once it is written."""
        return [sha256(self.text.encode()).hexdigest(), self.mode, self.owner]


def write_command(file: ManagedFile) -> StringCommand:
    """Write ``file`` by temp file and rename in its own directory; the text goes by stdin."""
    path, new = QuoteString(file.path), QuoteString(f"{file.path}.new")
    return in_turn(
        str(PurePosixPath(file.path).parent),
        *("umask 077 && cat >", new),
        *("&& chmod", QuoteString(file.mode), new, "&& chown", QuoteString(file.owner), new),
        *("&& sync", new, "&& mv", new, path),
        _stdin=file.text,
    )


@operation()
def managed_files(
    files: list[ManagedFile], absent: list[str] | None = None
) -> Generator[StringCommand, None, None]:
    """
    Ensure files have exactly the declared text, mode and owner; remove those named absent.

    + files: the files as they should be
    + absent: paths that must not exist
    """
    gone = absent or []
    states = host.get_fact(FileStates, paths=[*(file.path for file in files), *gone])
    wrong = [file for file in files if states[file.path] != file.state]
    leftovers = [path for path in gone if states[path] is not None]
    if not wrong and not leftovers:
        host.noop(f"all {len(files)} files are as declared")
    for file in wrong:
        yield write_command(file)
    for path in leftovers:
        yield StringCommand("rm -f", QuoteString(path))
