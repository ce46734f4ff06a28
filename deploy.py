"""The plan: bare hosts to a GLM-5.2 endpoint that has answered; run again, it repairs drift."""

import sys
from pathlib import Path

from pyinfra import host, inventory

sys.path.insert(0, str(Path(__file__).resolve().parent))  # tasks/, from whatever folder

from glmstead.fit.plan import refuse_misfit
from glmstead.settings import cluster_of, settings_for
from tasks import base, engine, gateway, model, patches, preflight, ray, smoke, vllm

cluster = cluster_of(inventory)
settings = settings_for(host)
refuse_misfit(settings, cluster)

preflight.check_host(settings, cluster)
base.prepare_host(settings)
engine.install_engine(settings, cluster)
patches.patch_engine(settings, cluster)
model.place_model(settings, cluster)
gateway.install_gateway(settings)
ray.configure_node(settings, cluster)
vllm.configure_server(settings, cluster)
gateway.configure_gateway(settings)
gateway.configure_gate(settings)
ray.start_cluster(settings, cluster)
vllm.serve_model(settings, cluster)
gateway.open_gateway(settings)
smoke.ask_questions(settings)
