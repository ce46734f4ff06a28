"""Operating system: packages, the service user, limits and kernel parameters."""

from pathlib import Path

from pyinfra.api import deploy
from pyinfra.operations import server

from glmstead import ROOT, checkpoint, places
from glmstead.operations.debian import installed
from glmstead.operations.journal import bounded
from glmstead.operations.kernel import parameters
from glmstead.operations.managed_files import ManagedFile, managed_files
from glmstead.patching import guard
from glmstead.settings import Settings


@deploy("Operating system")
def prepare_host(settings: Settings) -> None:
    system = settings.system
    installed(name="Debian packages", packages=system.packages)
    server.user(
        name=f"Service user {system.user}",
        user=system.user,
        home="/nonexistent",
        shell="/usr/sbin/nologin",
        system=True,
        create_home=False,
    )
    limits = "".join(
        f"{system.user} {kind} {item} {value}\n"
        for item, value in (("nofile", system.nofile), ("memlock", "unlimited"))
        for kind in ("soft", "hard")
    )
    managed_files(
        name="Limits of the service user's sessions",
        files=[ManagedFile("/etc/security/limits.d/60-glmstead.conf", limits)],
    )
    parameters(name="Kernel parameters", values=system.sysctl)
    journal = settings.journal
    bounded(name="Bounds of the journal", size_gb=journal.size_gb, days=journal.days)
    programs = [*(ROOT / "files" / "libexec").glob("*.py"), Path(guard.__file__)]
    files = {program.name: program for program in sorted(programs)}
    managed_files(
        name="Programs the units run",
        files=[
            ManagedFile(f"{places.LIBEXEC}/{path}", program.read_text())
            for path, program in {**files, **checkpoint_programs()}.items()
        ],
    )


def checkpoint_programs() -> dict[str, Path]:
    """The package that fetches and verifies models, by path under libexec."""
    package = Path(checkpoint.__file__).parent
    modules = {f"glmstead/checkpoint/{one.name}": one for one in sorted(package.glob("*.py"))}
    return {"glmstead/__init__.py": package.parent / "__init__.py", **modules}
