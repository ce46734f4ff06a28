"""How the container engine is set up."""

from pyinfra.api import StringCommand

from glmstead.facts.json_probe import JsonProbe
from glmstead.probes import probe_command


class ContainerEngine(JsonProbe):
    """``{"version", "configured", "devices", "driver", "inside"}``, see ``probes.container``."""

    def command(self, container: str) -> StringCommand:
        return probe_command("container", {"container": container})
