"""Rules across settings that need no host; each yields the problems it finds."""

from collections.abc import Callable, Iterator

from glmstead.settings.model import Cluster, Settings
from glmstead.settings.problem import Problem

Rule = Callable[[Settings, Cluster], Iterator[Problem]]
RULES: tuple[Rule, ...] = ()


def broken(settings: Settings, cluster: Cluster) -> Iterator[Problem]:
    """Yield every broken rule of one host's settings."""
    for rule in RULES:
        yield from rule(settings, cluster)
