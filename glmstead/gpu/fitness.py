"""Why a GPU host will not do: one line a reason, each with its fix; empty when it will.

``before`` is asked in preflight, when nothing was changed yet: what the driver task is going to
install is not asked for. ``after`` is asked when the driver is in place.
"""

from glmstead.gpu.checks import boards, driver, host, install
from glmstead.gpu.driver import is_driver_package, upstream
from glmstead.gpu.packaging import driver_packages
from glmstead.gpu.values import GpuHost
from glmstead.settings import Settings


def before(found: GpuHost, settings: Settings) -> list[str]:
    """Reasons to refuse a host before anything is changed on it."""
    replaced = settings.driver.source == "apt" and not is_installed(found, settings)
    findings = () if replaced else found.findings  # of the driver that leaves
    lines = [f"{one.what}: {one.fix}" for one in findings]
    lines += host.surroundings(found, settings)
    if not found.limits:  # none of our services runs, so a holder is none of ours
        lines += [f"{one}: stop it, or glmstead recover" for one in holders_of(found, frozenset())]
    if replaced:
        return [*lines, *install.problems(found, settings)]
    return [*lines, *after(found, settings)]


def after(found: GpuHost, settings: Settings) -> list[str]:
    """Reasons to refuse a host whose driver is in place."""
    lines = [*driver.problems(found, settings)]
    return [*lines, *boards.problems(found, settings)] if found.smi == "ok" else lines


def of_services(found: GpuHost, settings: Settings) -> list[str]:
    """Reasons to refuse the services as they run; asked last, when all run their new units."""
    return [*host.limits(found, settings)]


def is_installed(found: GpuHost, settings: Settings) -> bool:
    """Whether the packages are those of the declared version, all of them and no others."""
    declared, packages = settings.driver, found.driver.packages
    versions = {upstream(v) for name, v in packages.items() if is_driver_package(name)}
    wanted = driver_packages(declared, found.system) if declared.version else []
    return versions == {declared.version} and all(name in packages for name in wanted)


def holders_of(found: GpuHost, ours: frozenset[int]) -> list[str]:
    """Lines for processes that hold GPU memory and are not ``ours``."""
    return [
        f"{one.process or 'a process'} (pid {one.pid}) holds {one.used_mib or '?'} MiB of {one.gpu}"
        for one in found.holders
        if one.pid not in ours
    ]
