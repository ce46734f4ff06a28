"""NVIDIA's driver: exactly one version, built for every kernel."""

from collections.abc import Generator

from pyinfra import host
from pyinfra.api import QuoteString, StringCommand, operation

from glmstead.facts.files import FileStates
from glmstead.facts.units import UnitStates
from glmstead.gpu import packaging
from glmstead.gpu.fitness import is_installed
from glmstead.operations import debian
from glmstead.operations.gpu_host import gpu_host_of
from glmstead.operations.managed_files import ManagedFile, managed_files
from glmstead.operations.refusal import refuse
from glmstead.probes import probe_command
from glmstead.settings import Cluster, Settings

Commands = Generator[StringCommand, None, None]


def apt(settings: Settings, *words: str) -> StringCommand:
    """One apt-get of the driver's, which waits as long as its setting says."""
    return debian.apt(*words, wait_s=settings.driver.lock_wait_s, driver=True)


def refreshed(settings: Settings) -> Commands:
    """Read the package lists anew; our repository must answer, the others may fail."""
    ours = ("-o", f"Dir::Etc::sourcelist={packaging.SOURCES}", "-o", "Dir::Etc::sourceparts=-")
    # A mirror that is down would else be a warning only.
    strict = ("-o", "APT::Update::Error-Mode=any", "-o", "APT::Get::List-Cleanup=0")
    yield apt(settings, "update", *ours, *strict)
    yield apt(settings, "update")


@operation()
def repository(settings: Settings, cluster: Cluster) -> Commands:
    """
    Ensure the driver's apt repository, and only there the declared version, before it is used.

    + settings: of this host
    + cluster: all hosts of the inventory
    """
    found = gpu_host_of(host, settings, cluster)
    source = packaging.repository(settings.driver, found.system, found.machine)
    if source.fingerprint is None:
        yield refuse(f"driver_key_fingerprint is not set: read it from {source.key_url}")
        return
    if host.get_fact(FileStates, paths=[source.keyring])[source.keyring] is None:
        key = {"url": source.key_url, "fingerprint": source.fingerprint, "path": source.keyring}
        yield probe_command("repository_key", key)
    files = [ManagedFile(packaging.SOURCES, source.text)]
    if settings.driver.source == "apt":
        pin = packaging.driver_pin(str(settings.driver.version))
        nouveau = "blacklist nouveau\noptions nouveau modeset=0\n"
        files += [
            ManagedFile(packaging.DRIVER_PIN, pin),
            ManagedFile(packaging.NOUVEAU, nouveau),
        ]
    yield from managed_files._inner(files=files)


@operation()
def installed(settings: Settings, cluster: Cluster) -> Commands:
    """
    Ensure the declared version and no other, in one transaction; the engine is stopped for it.

    + settings: of this host
    + cluster: all hosts of the inventory
    """
    found = gpu_host_of(host, settings, cluster)
    if is_installed(found, settings):
        host.noop(f"driver {settings.driver.version} is installed")
        return
    if found.limits:  # units that run
        units = [QuoteString(f"{unit}.service") for unit in found.limits]
        yield StringCommand("systemctl stop", *units)
    yield from refreshed(settings)
    options = ("--no-install-recommends", "--allow-downgrades", "--allow-change-held-packages")
    yield apt(
        settings,
        *("install", "--purge", *options, "-o", "Dpkg::Options::=--force-confold"),
        *packaging.transaction(found, settings.driver),
    )


@operation()
def built(settings: Settings, cluster: Cluster) -> Commands:
    """
    Ensure the driver's module for every installed kernel, so that no reboot loses the GPUs.

    + settings: of this host
    + cluster: all hosts of the inventory
    """
    found = gpu_host_of(host, settings, cluster)
    version = str(settings.driver.version)
    missing = [kernel for kernel, has in found.driver.built.items() if has != version]
    if not missing:
        host.noop(f"every kernel has module {version}")
    for kernel in missing:
        name, log = QuoteString(kernel), f"/var/lib/dkms/nvidia/{version}/build/make.log"
        yield StringCommand(
            # Only our module counts: nvidia-fs fails where it does not (NVIDIA/gds-nvidia-fs#64).
            *("dkms autoinstall -k", name, '>&2; test "$(modinfo -k', name),
            *('-F version nvidia)" =', QuoteString(version), "|| { tail -n 20", QuoteString(log)),
            *(">&2; echo", QuoteString(_unbuilt(kernel, version)), ">&2; exit 1; }"),
        )


def _unbuilt(kernel: str, version: str) -> str:
    return (
        f"driver {version} has no module for kernel {kernel}: install linux-headers-{kernel}, "
        "or remove that kernel"
    )


@operation()
def persistent() -> Commands:
    """Ensure nvidia-persistenced runs, so that the first use of a GPU does not initialise it."""
    unit = "nvidia-persistenced"
    state = host.get_fact(UnitStates, units=[unit])["units"][unit]
    if state["LoadState"] == "not-found" or state["ActiveState"] == "active":
        host.noop("runs, or is not part of this driver")
        return
    if state["UnitFileState"] == "disabled":
        yield StringCommand("systemctl enable", f"{unit}.service")
    yield StringCommand("systemctl start", f"{unit}.service")
