"""What keeps driver and kernel as they are, and the proof that it does."""

from collections.abc import Generator

from pyinfra import host
from pyinfra.api import QuoteString, StringCommand, operation

from glmstead.facts.apt_moves import AptMoves
from glmstead.gpu import packaging
from glmstead.gpu.driver import is_protected
from glmstead.operations.gpu_host import gpu_host_of
from glmstead.operations.managed_files import ManagedFile, managed_files
from glmstead.operations.refusal import refuse
from glmstead.settings import Cluster, Settings

Commands = Generator[StringCommand, None, None]


@operation()
def protected(settings: Settings, cluster: Cluster) -> Commands:
    """
    Ensure driver and kernel are held, pinned and out of reach of unattended-upgrades.

    + settings: of this host
    + cluster: all hosts of the inventory
    """
    found = gpu_host_of(host, settings, cluster)
    version = settings.driver.version or next(iter(found.driver.libraries), None)
    files = [
        ManagedFile(packaging.KERNEL_PIN, packaging.kernel_pin(found.driver.packages)),
        ManagedFile(packaging.BLACKLIST, packaging.blacklist()),
    ]
    if version is not None:  # an image may carry a driver that apt does not know
        files.append(ManagedFile(packaging.DRIVER_PIN, packaging.driver_pin(version)))
    yield from managed_files._inner(files=files)
    hold = packaging.to_hold(found)
    if hold:
        yield StringCommand("apt-mark hold", *(QuoteString(name) for name in hold))


@operation()
def proved(settings: Settings) -> Commands:
    """
    Refuse unless the next upgrade, by hand or unattended, leaves driver and kernel alone.

    + settings: of this host
    """
    found = host.get_fact(AptMoves)
    lines = [
        f"{name} would move {', '.join(moved)}"
        for name, names in (
            ("apt-get dist-upgrade", found["dist_upgrade"]),
            ("unattended-upgrades", found["unattended"] or []),
        )
        if (moved := [one for one in names if is_protected(one)])
    ]
    if found["error"]:
        lines.append(f"it cannot be proved that the driver stays: {found['error']}")
    if lines:
        yield refuse(f"{'; '.join(lines)}: look at {packaging.DRIVER_PIN} and apt-mark showhold")
    else:
        host.noop("neither driver nor kernel would move")
