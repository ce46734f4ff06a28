"""The engine's Python environment, equal on every host."""

from pyinfra.api import deploy

from glmstead import places
from glmstead.lock import lock_path
from glmstead.operations import environments, git_source
from glmstead.operations.environments import Sources
from glmstead.settings import Cluster, Settings


@deploy("Engine environment")
def install_engine(settings: Settings, cluster: Cluster) -> None:
    engine = settings.engine
    if engine.kind == "container" or engine.lock is None:
        return
    environments.locked(
        name=f"{engine.package} {engine.version} as locked",
        root=engine.root,
        lock=lock_path(engine.lock).read_text(),
        python=engine.python,
        sources=sources_of(settings),
        units=places.ENGINE_UNITS,
        beside=["vllm"] if engine.source == "git" else [],
    )
    if engine.source == "git":
        git_source.checked_out(
            name="Checkout with its one change", settings=settings, units=places.ENGINE_UNITS
        )
        git_source.installed(
            name="vLLM runs from it", settings=settings, sources=sources_of(settings)
        )
    environments.same_as(
        name="Same Python and releases as the head", other=cluster.head.name, root=engine.root
    )


def sources_of(settings: Settings) -> Sources:
    """Where this site's distributions come from, for every environment of a host."""
    engine = settings.engine
    return Sources(engine.index_url, engine.extra_index_urls, engine.find_links, engine.offline)
