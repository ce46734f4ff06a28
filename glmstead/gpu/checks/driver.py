"""The driver that is there: one version, loaded, new enough, and its nvidia-smi answers."""

from collections.abc import Iterator

from packaging.version import Version

from glmstead.gpu import tables
from glmstead.gpu.values import GpuHost
from glmstead.settings import Settings


def problems(found: GpuHost, settings: Settings) -> Iterator[str]:
    """Module and packages of one version, and why nvidia-smi does not answer."""
    driver, state = found.driver, found.smi
    shown = ", ".join(driver.libraries) or "none"
    if len(driver.libraries) > 1:
        yield f"driver packages of several versions ({shown}): install all of one repository"
    elif driver.loaded and driver.libraries and driver.loaded not in driver.libraries:
        yield f"module {driver.loaded} is loaded, the packages are {shown}: reboot the host"
    elif state == "mismatch":
        yield f"nvidia-smi: {found.smi_error}: reboot the host"
    if state == "missing":
        yield "nvidia-smi is not installed: set driver_source = 'apt', or use a driver image"
    elif state == "hung":
        yield f"nvidia-smi hangs ({found.smi_error}): a GPU is wedged, power-cycle the host"
    elif state == "not loaded":
        yield _not_loaded(found)
    elif state == "no devices":
        yield f"nvidia-smi: No devices were found, {len(found.pci_gpus)} on PCI: {_cause(found)}"
    elif state == "failed":
        yield f"nvidia-smi fails ({found.smi_error}): reboot the host, look at journalctl -k"
    if driver.loaded and Version(driver.loaded) < Version(settings.driver.minimum):
        yield (
            f"driver {driver.loaded} is older than {settings.driver.minimum}, which the pinned "
            "torch needs: set driver_source = 'apt' and driver_version"
        )
    reason = tables.DENIED.get(driver.loaded or "")
    if reason:
        yield f"driver {driver.loaded} is known to be bad, {reason}: use another version"


def _not_loaded(found: GpuHost) -> str:
    if found.driver.nouveau:
        return "nouveau holds the GPUs: run the driver task (driver_source = 'apt') and reboot"
    if not found.driver.built.get(found.kernel):
        return (
            f"kernel {found.kernel} has no NVIDIA module: install its headers and run "
            f"dkms autoinstall -k {found.kernel}, or boot a kernel that has one"
        )
    return f"the NVIDIA module is not loaded: modprobe nvidia; {_cause(found)}"


def _cause(found: GpuHost) -> str:
    if found.driver.is_open is False:
        return "closed modules are loaded, newer boards need nvidia-open"
    return "look at journalctl -k"
