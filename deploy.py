"""The plan: bare hosts to a GLM-5.2 endpoint that has answered; run again, it repairs drift."""

import sys
from pathlib import Path

from pyinfra import host, inventory

sys.path.insert(0, str(Path(__file__).resolve().parent))  # tasks/, from whatever folder

from glmstead.fit.plan import refuse_misfit
from glmstead.settings import cluster_of, settings_for
from tasks import (
    base,
    container,
    cuda,
    driver,
    engine,
    gateway,
    image,
    metrics,
    model,
    moving,
    nccl,
    network,
    overlay,
    patches,
    preflight,
    ray,
    single,
    smoke,
    vllm,
    watch,
)

cluster = cluster_of(inventory)
settings = settings_for(host)
refuse_misfit(settings, cluster)

preflight.check_host(settings, cluster)
moving.leave_other_routes(settings)
base.prepare_host(settings)
network.enlarge_packets(settings, cluster)
driver.drive_gpus(settings, cluster)
container.install_engine(settings, cluster)
engine.install_engine(settings, cluster)
overlay.bring_files(settings)
image.place_image(settings)
container.check_image(settings)
cuda.install_compiler(settings, cluster)
patches.patch_engine(settings, cluster)
overlay.import_files(settings)
gateway.install_gateway(settings)  # before the model: it holds a container route's hub client
model.place_model(settings, cluster)
ray.configure_node(settings, cluster)
cuda.check_compiler(settings)
nccl.measure_nccl(settings, cluster)
vllm.configure_server(settings, cluster)
single.configure_server(settings, cluster)
image.configure_server(settings, cluster)
gateway.configure_gateway(settings)
gateway.configure_gate(settings)
watch.configure_watch(settings, cluster)
ray.start_cluster(settings, cluster)
vllm.serve_model(settings, cluster)
single.serve_model(settings, cluster)
driver.check_limits(settings, cluster)
gateway.open_gateway(settings)
watch.keep_watch()
metrics.keep_figures(settings, cluster)
moving.keep_one_image(settings)
container.keep_gpus(settings)  # after every change of a unit
smoke.ask_questions(settings)
