"""The watch of every host that runs Ray: liveness, evidence, bounded restarts."""

import json

from pyinfra import host
from pyinfra.api import deploy

from glmstead import places
from glmstead.operations import units
from glmstead.operations.managed_files import ManagedFile, managed_files
from glmstead.serving import exec_line
from glmstead.settings import Cluster, Settings
from glmstead.unit_files import unit_file
from glmstead.watching import watch_config
from tasks.gateway import shipped


@deploy("Watch configuration")
def configure_watch(settings: Settings, cluster: Cluster) -> None:
    document = watch_config(settings, cluster, host.name)
    files = [ManagedFile(places.WATCH_CONFIG, json.dumps(document, indent=1) + "\n")]
    names = ("evidence", "figures", "idle", "liveness", "looks", "main", "notify")
    files += shipped(*(f"watch/{name}" for name in names))
    files += shipped("gpu/smi", "gpu/values", "patching/guard")
    managed_files(name="Watch", files=files)
    words = ["/usr/bin/python3", "-m", "glmstead.watch.main", places.WATCH_CONFIG]
    managed_files(
        name="Watch unit",
        files=unit_file(
            places.WATCH,
            inputs=[file.path for file in files],
            command=exec_line([*words, places.WATCH_FOLDER]),
        ),
    )


@deploy("Watch")
def keep_watch() -> None:
    units.running(name="Progress is watched", unit=places.WATCH, here=True)
