"""A reboot, where it is allowed and needed: bounded, and known by the boot id, not by the clock."""

import time
from collections.abc import Generator

from pyinfra import host
from pyinfra.api import FunctionCommand, Host, QuoteString, State, StringCommand, operation

from glmstead.gpu.values import GpuHost
from glmstead.operations.gpu_host import gpu_host_of
from glmstead.operations.refusal import refuse
from glmstead.settings import Cluster, Settings

BOOT_ID = "/proc/sys/kernel/random/boot_id"


def reason(found: GpuHost, version: str | None) -> str | None:
    """Why the running kernel does not have the installed driver; None when it does."""
    driver = found.driver
    if driver.nouveau:
        return "nouveau holds the GPUs"
    if driver.loaded is None:
        return "the NVIDIA module is not loaded"
    if version is not None and driver.loaded != version:
        return f"module {driver.loaded} is loaded, {version} is installed"
    return None


@operation()
def into_driver(
    settings: Settings, cluster: Cluster
) -> Generator[StringCommand | FunctionCommand, None, None]:
    """
    Reboot this host when its kernel does not run the installed driver, if that is allowed.

    + settings: of this host
    + cluster: all hosts of the inventory
    """
    found = gpu_host_of(host, settings, cluster)
    why, driver = reason(found, settings.driver.version), settings.driver
    if why is None:
        host.noop(f"driver {found.driver.loaded} runs")
        return
    if not driver.allow_reboot:
        yield refuse(f"{why}: reboot this host and deploy again, or set driver_allow_reboot")
        return
    # Detached, or the connection would wait for the command's end.
    yield StringCommand("systemd-run --on-active=1 --quiet systemctl reboot")
    yield FunctionCommand(wait_for_boot, (found.boot_id, driver.reboot_timeout_s), {})
    late = refuse(f"not back within {driver.reboot_timeout_s} s of its reboot: see its console")
    yield StringCommand(
        'test "$(cat', BOOT_ID, ')" !=', QuoteString(found.boot_id), "|| {", late, "; }"
    )


def wait_for_boot(state: State, host: Host, before: str, timeout_s: float) -> None:
    """Reconnect until the boot id is another one, or the time is over.

    pyinfra's own reboot compares uptimes and can wait for ever (pyinfra-dev/pyinfra#1737).
    """
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        time.sleep(1)
        try:
            host.connector.disconnect()
            host.connected = False
            host.connect(show_errors=False)
            if host.connected and boot_id(host) not in ("", before):
                return
        except (OSError, EOFError):  # the connection broke under the question
            continue


def boot_id(host: Host) -> str:
    """Id of the running boot; empty when the host did not say."""
    told, output = host.run_shell_command(f"cat {BOOT_ID}")
    return output.stdout.strip() if told else ""
