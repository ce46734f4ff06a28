"""The plan of the compiler alone, with the environment and the programs it needs."""

from pyinfra import host, inventory

from glmstead import ROOT, places
from glmstead.operations.managed_files import ManagedFile, managed_files
from glmstead.render import env_file
from glmstead.serving import engine_environment
from glmstead.settings import cluster_of, settings_for
from tasks import cuda

settings = settings_for(host)
program = ROOT / "files" / "libexec" / "compile_kernel.py"
managed_files(
    name="Environment of the engine",
    files=[
        ManagedFile(places.ENGINE_ENV, env_file(engine_environment(settings))),
        ManagedFile(f"{places.LIBEXEC}/{program.name}", program.read_text()),
    ],
)
# pyinfra types a deploy as an operation without arguments of its own.
cuda.install_compiler(settings, cluster_of(inventory))  # type: ignore[call-arg, arg-type]
cuda.check_compiler(settings)  # type: ignore[call-arg, arg-type]
