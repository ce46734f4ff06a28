"""Kernel parameters in one drop-in of our own."""

from collections.abc import Generator

from pyinfra import host
from pyinfra.api import QuoteString, StringCommand, operation
from pyinfra.facts.server import Sysctl

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
    live = host.get_fact(Sysctl, keys=sorted(values)) if values else {}
    wrong = [name for name, value in sorted(values.items()) if live.get(name) != value]
    on_disk = host.get_fact(FileStates, paths=[_DROP_IN])[_DROP_IN] == file.state
    if on_disk and not wrong:
        host.noop("as declared")
    for name in wrong:
        yield StringCommand("sysctl --quiet -w", QuoteString(f"{name}={values[name]}"))
    if not on_disk:
        yield write_command(file)
