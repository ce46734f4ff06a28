"""The plan of ``glmstead nccl``: measure again how the ranks of a deployed cluster talk best."""

import sys
from pathlib import Path

from pyinfra import host, inventory

sys.path.insert(0, str(Path(__file__).resolve().parent))  # tasks/, from whatever folder

from glmstead.settings import cluster_of, settings_for
from tasks import nccl, preflight

cluster = cluster_of(inventory)
settings = settings_for(host)

preflight.check_host(settings, cluster)
nccl.measure_nccl(settings, cluster, again=True)
