"""Kernel parameters in one drop-in of our own."""

from collections.abc import Generator

from pyinfra import host
from pyinfra.api import QuoteString, StringCommand, operation

from glmstead.facts.files import FileStates
from glmstead.operations.managed_files import ManagedFile, write_command

_DROP_IN = "/etc/sysctl.d/60-glmstead.conf"


@operation()
def parameters(values: dict[str, int]) -> Generator[StringCommand, None, None]:
    """
    Ensure kernel parameters, now and after a reboot.

    + values: parameter to value; empty removes what an earlier deploy had set for reboots
    """
    text = "".join(f"{name} = {value}\n" for name, value in sorted(values.items()))
    file = ManagedFile(_DROP_IN, text or "# none\n")
    if host.get_fact(FileStates, paths=[_DROP_IN])[_DROP_IN] == file.state:
        host.noop("as declared")
        return
    for name, value in sorted(values.items()):
        # Applied before it is written: a run killed in between applies again.
        yield StringCommand("sysctl --quiet -w", QuoteString(f"{name}={value}"))
    yield write_command(file)
