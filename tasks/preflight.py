"""Refuse unfit hosts before anything changes on any of them."""

from pyinfra.api import deploy

from glmstead.operations import preflight
from glmstead.settings import Cluster, Settings


@deploy("Preflight")
def check_host(settings: Settings, cluster: Cluster) -> None:
    preflight.fit_host(name="This host is fit", settings=settings, cluster=cluster)
