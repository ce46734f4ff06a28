"""Rules across settings that need no host; each yields the problems it finds."""

from collections.abc import Callable, Iterator

from glmstead.settings.model import Cluster, Settings
from glmstead.settings.problem import Problem
from glmstead.settings.rules.checkpoint import controller_source, host_source, hub_source
from glmstead.settings.rules.engine import (
    ampere,
    git_checkout,
    kinds,
    overlay_files,
    thinking,
)
from glmstead.settings.rules.environment import locked_versions, malicious_gateway, sources
from glmstead.settings.rules.gpu import (
    boards,
    driver_version,
    locked_kernels,
    locked_toolkit,
    toolkit,
)
from glmstead.settings.rules.image import pinned_image, unset_variables
from glmstead.settings.rules.network import (
    allowed_networks,
    distinct_ports,
    interface_variables,
    variable_values,
)
from glmstead.settings.rules.parallel import context_parallel, heads, ranks, speculation
from glmstead.settings.rules.patches import patch_windows
from glmstead.settings.rules.serving import (
    b12x_kernels,
    block_size,
    dense_fallback,
    further_arguments,
    old_class,
    reasoning_parser,
)

Rule = Callable[[Settings, Cluster], Iterator[Problem]]
RULES: tuple[Rule, ...] = (
    kinds,
    pinned_image,
    unset_variables,
    overlay_files,
    git_checkout,
    thinking,
    ampere,
    ranks,
    heads,
    context_parallel,
    speculation,
    distinct_ports,
    allowed_networks,
    interface_variables,
    variable_values,
    locked_versions,
    malicious_gateway,
    sources,
    hub_source,
    controller_source,
    host_source,
    patch_windows,
    dense_fallback,
    old_class,
    b12x_kernels,
    block_size,
    reasoning_parser,
    further_arguments,
    boards,
    driver_version,
    toolkit,
    locked_kernels,
    locked_toolkit,
)


def broken(settings: Settings, cluster: Cluster) -> Iterator[Problem]:
    """Yield every broken rule of one host's settings."""
    for rule in RULES:
        yield from rule(settings, cluster)
