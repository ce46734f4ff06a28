"""The checkpoint on every host."""

from pyinfra.api import deploy

from glmstead import ROOT
from glmstead.operations import models
from glmstead.settings import Settings


@deploy("Model")
def place_model(settings: Settings) -> None:
    model = settings.model
    if model.source == "controller":
        models.from_controller(
            name=f"{model.name} from this machine",
            directory=ROOT / str(model.directory),
            path=model.path,
        )
    else:
        models.from_hub(
            name=f"{model.name} at its pinned revision",
            python=f"{settings.engine.root}/bin/python",
            repo=str(model.repo),
            revision=str(model.revision),
            path=model.path,
        )
    models.servable(
        name=f"{model.name} is fit to be served",
        path=model.path,
        vllm_version=settings.engine.version,
    )
