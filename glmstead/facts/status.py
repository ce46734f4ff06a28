"""How a host's units are and what Ray holds, in one round trip."""

from typing import Any

from pyinfra.api import StringCommand

from glmstead.facts.json_probe import JsonProbe
from glmstead.probes import probe_command


class HostStatus(JsonProbe):
    """``{"units": {unit: {ActiveState, ...}}, "ray": line or None}``."""

    def command(self, units: list[str], ray: dict[str, Any] | None) -> StringCommand:
        return probe_command("status", {"units": units, "ray": ray})
