"""The plan: a cluster in whatever state to one that has started cleanly and answered."""

import sys
from pathlib import Path

from pyinfra import host, inventory

sys.path.insert(0, str(Path(__file__).resolve().parent))  # tasks/, from whatever folder

from glmstead.settings import cluster_of, settings_for
from tasks import gateway, ray, recover, single, smoke, vllm, watch

cluster = cluster_of(inventory)
settings = settings_for(host)

recover.stop_everything(settings, cluster)
ray.start_cluster(settings, cluster)
vllm.serve_model(settings, cluster)
single.serve_model(settings, cluster)
recover.read_log(settings, cluster)
gateway.open_gateway(settings)
watch.keep_watch()
smoke.ask_questions(settings)
