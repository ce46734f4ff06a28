"""How the container engine is set up."""

from pyinfra.api import StringCommand

from glmstead.facts.json_probe import JsonProbe
from glmstead.probes import probe_command


class ContainerEngine(JsonProbe):
    """``{"version", "configured", "devices", "driver", ...}``, see ``probes.container``."""

    def command(self, container: str, image: str = "") -> StringCommand:
        return probe_command("container", {"container": container, "image": image})
