"""What routes have put on a host."""

from typing import Any

from pyinfra.api import StringCommand

from glmstead.facts.json_probe import JsonProbe
from glmstead.probes import probe_command


class Leftovers(JsonProbe):
    """The document of ``glmstead.probes.leftovers``."""

    def command(self, request: dict[str, Any]) -> StringCommand:
        return probe_command("leftovers", request)
