"""What a Python environment on a host holds."""

from pyinfra.api import StringCommand

from glmstead.facts.json_probe import JsonProbe
from glmstead.probes import probe_command


class EnvironmentState(JsonProbe):
    """``{"python": version or None, "lock": sha256 or None, "versions": {name: version}}``."""

    def command(self, root: str) -> StringCommand:
        return probe_command("environment", {"root": root})
