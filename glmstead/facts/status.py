"""How a host's units are, what Ray holds and what the engine does, in one round trip."""

from typing import Any

from pyinfra.api import StringCommand

from glmstead.facts.json_probe import JsonProbe
from glmstead.probes import probe_command


class HostStatus(JsonProbe):
    """The document of ``glmstead.probes.status``."""

    def command(
        self, units: list[str], ray: dict[str, Any] | None, engine: dict[str, Any] | None
    ) -> StringCommand:
        return probe_command("status", {"units": units, "ray": ray, "engine": engine})
