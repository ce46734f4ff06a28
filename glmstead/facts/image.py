"""What a host's Docker holds."""

from pyinfra.api import StringCommand

from glmstead import places
from glmstead.facts.json_probe import JsonProbe
from glmstead.probes import probe_command


class ImageState(JsonProbe):
    """``{"daemon": bool, "images": {reference: id or None}, "running": reference or None}``."""

    def command(self, references: list[str]) -> StringCommand:
        return probe_command("image", {"references": references, "container": places.VLLM})
