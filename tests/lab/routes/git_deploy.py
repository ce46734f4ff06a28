"""What a100_git does with an engine from git, on an environment of one small package."""

from pyinfra import host, inventory

from glmstead.lock import lock_path
from glmstead.operations import environments, git_source
from glmstead.settings import cluster_of, settings_for
from tasks import patches
from tasks.engine import sources_of

settings = settings_for(host)
environments.locked(
    name="An environment",
    root=settings.engine.root,
    lock=lock_path("uv").read_text(),
    python=settings.engine.python,
    sources=sources_of(settings),
    beside=["vllm"],
)
git_source.checked_out(name="Checkout", settings=settings)
git_source.installed(name="Installed from it", settings=settings, sources=sources_of(settings))
patches.patch_engine(settings, cluster_of(inventory))  # type: ignore[call-arg, arg-type]
