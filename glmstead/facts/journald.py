"""Whether journald runs with the configuration on disk."""

from pyinfra.api import StringCommand

from glmstead.facts.json_probe import JsonProbe
from glmstead.probes import probe_command


class JournaldState(JsonProbe):
    """``{"digest": sha256 or None, "stale": bool}``."""

    def command(self, path: str) -> StringCommand:
        return probe_command("journald", {"path": path})
