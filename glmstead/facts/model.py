"""What lies in a checkpoint's folder on a host."""

from pyinfra.api import StringCommand

from glmstead.facts.json_probe import JsonProbe
from glmstead.probes import probe_command


class ModelState(JsonProbe):
    """``{"config": {...}, "index": [shard, ...], "files": {name: bytes}}``; empty when absent."""

    def command(self, path: str) -> StringCommand:
        return probe_command("model", path)
