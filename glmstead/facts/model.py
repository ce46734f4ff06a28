"""What lies in a checkpoint's folder on a host."""

from pyinfra.api import StringCommand

from glmstead import places
from glmstead.facts.json_probe import JsonProbe
from glmstead.probes import probe_command


class ModelState(JsonProbe):
    """The document of ``glmstead.probes.model``; ``files`` and ``config`` are empty when absent."""

    def command(self, path: str) -> StringCommand:
        return probe_command("model", {"path": path, "copy": places.MODEL_MANIFEST})
