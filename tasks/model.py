"""The checkpoint on every host: fetched once, spread, verified, the same everywhere."""

from pyinfra.api import deploy

from glmstead.operations import models
from glmstead.operations.hub_token import hub_token
from glmstead.settings import Cluster, Settings


@deploy("Model")
def place_model(settings: Settings, cluster: Cluster) -> None:
    model = settings.model
    if model.source == "hub":
        hub_token(name="Token of the hub")
    models.placed(
        name=f"{model.name} whole, verified and fit to be served",
        settings=settings,
        cluster=cluster,
    )
    models.same_as(name="Same model as the head", other=cluster.head.name, path=model.path)
