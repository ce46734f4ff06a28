"""The compiler of kernels: one release, in one place, and shown to work before the engine starts."""

import json
from collections.abc import Generator
from hashlib import sha256

from pyinfra import host
from pyinfra.api import QuoteString, StringCommand, operation
from pyinfra.facts.deb import DebPackages

from glmstead import ROOT, places
from glmstead.facts.cuda_home import CudaHome
from glmstead.facts.documents import JsonDocument
from glmstead.lock import lock_text
from glmstead.operations import driver
from glmstead.operations.refusal import refuse
from glmstead.probes import probe_command
from glmstead.render import env_file
from glmstead.serving import engine_environment
from glmstead.settings import Settings

Commands = Generator[StringCommand, None, None]
PROGRAM = "compile_kernel.py"


@operation()
def home_of_wheels(environment: str, home: str) -> Commands:
    """
    Ensure a folder laid out as CUDA's own, of the wheels in an environment.

    + environment: root of the environment
    + home: the folder, CUDA_HOME of the services
    """
    found = host.get_fact(CudaHome, environment=environment, home=home)
    if found["error"]:
        yield refuse(found["error"])
    elif found["wrong"]:
        request = {"environment": environment, "home": home, "apply": True}
        yield probe_command("cuda_home", request)
    else:
        host.noop(f"{home} is the compiler of {environment}")


@operation()
def toolkit(settings: Settings) -> Commands:
    """
    Ensure CUDA's toolkit from the driver's repository; it leaves the driver as it is.

    + settings: of this host
    """
    package = f"cuda-toolkit-{settings.cuda.version.replace('.', '-')}"
    if package in host.get_fact(DebPackages):
        host.noop(f"{package} is installed")
        return
    yield from driver.refreshed(settings)
    yield driver.apt(settings, "install", "--no-install-recommends", package)


def fingerprint(settings: Settings) -> str:
    """What a check of the compiler depends on; another one is another check."""
    parts = [
        env_file(engine_environment(settings)),
        lock_text(settings.engine.lock),
        (ROOT / "files" / "libexec" / PROGRAM).read_text(),
        json.dumps([settings.cuda.architecture, settings.gpu.count, settings.driver.version]),
    ]
    return sha256("\n".join(parts).encode()).hexdigest()


@operation()
def compiles(settings: Settings) -> Commands:
    """
    Ensure that a kernel for the route's GPUs can be built, and run where there are GPUs.

    It is built as the services build theirs: by their user, in their environment.

    + settings: of this host
    """
    key = fingerprint(settings)
    receipt = host.get_fact(JsonDocument, path=places.TOOLCHAIN)
    if receipt is not None and receipt["key"] == key:
        host.noop(f"nvcc {receipt['nvcc']} builds for {receipt['architecture']}")
        return
    properties = [f"User={settings.system.user}", f"EnvironmentFile={places.ENGINE_ENV}"]
    words = ["/usr/bin/python3", f"{places.LIBEXEC}/{PROGRAM}", settings.cuda.architecture, key]
    words += ["run"] if settings.gpu.count else []
    new = QuoteString(f"{places.TOOLCHAIN}.new")
    yield StringCommand(
        "systemd-run --quiet --wait --pipe --collect",
        *(part for one in properties for part in ("-p", QuoteString(one))),
        *(QuoteString(word) for word in words),
        *(">", new, "&& mv", new, places.TOOLCHAIN),
    )
