"""Bounds of the host's journal, which holds what all our services say."""

from collections.abc import Generator

from pyinfra import host
from pyinfra.api import StringCommand, operation

from glmstead.facts.journald import JournaldState
from glmstead.operations.managed_files import ManagedFile, write_command

PATH = "/etc/systemd/journald.conf.d/60-glmstead.conf"


@operation()
def bounded(size_gb: float, days: int) -> Generator[StringCommand, None, None]:
    """
    Ensure that the journal is kept over reboots, within a size and an age.

    + size_gb: the most it may take of the disk, GB
    + days: how long an entry is kept
    """
    megabytes = round(size_gb * 1000)
    text = (
        "[Journal]\nStorage=persistent\n"
        f"SystemMaxUse={megabytes}M\nSystemMaxFileSize={max(8, megabytes // 16)}M\n"
        f"MaxRetentionSec={days}day\n"
    )
    file = ManagedFile(PATH, text)
    state = host.get_fact(JournaldState, path=PATH)
    if state["digest"] == file.state[0] and not state["stale"]:
        host.noop("the journal is bounded")
        return
    if state["digest"] != file.state[0]:
        yield write_command(file)
    yield StringCommand("systemctl restart systemd-journald")
