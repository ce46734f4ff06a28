"""What the next upgrades would move."""

from pyinfra.api import StringCommand

from glmstead.facts.json_probe import JsonProbe
from glmstead.probes import probe_command


class AptMoves(JsonProbe):
    """``{"dist_upgrade": [...], "unattended": [...] or None, "error"}``; some seconds."""

    def command(self) -> StringCommand:
        return probe_command("apt_moves", None)
