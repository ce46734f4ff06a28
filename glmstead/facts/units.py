"""What systemd knows of our units, and whether they run what lies on disk."""

from pyinfra.api import StringCommand

from glmstead.facts.json_probe import JsonProbe
from glmstead.probes import probe_command


class UnitStates(JsonProbe):
    """``{"units": {unit: {ActiveState, ..., "stale": [input, ...]}}, "ray_session": name}``."""

    def command(self, units: list[str]) -> StringCommand:
        return probe_command("units", units)
