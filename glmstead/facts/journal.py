"""What units of a host have logged."""

from pyinfra.api import StringCommand

from glmstead.facts.json_probe import JsonProbe
from glmstead.probes import probe_command


class Journal(JsonProbe):
    """``{"lines": [[microseconds, unit, text], ...], "error": text}``."""

    def command(self, units: list[str], since: str, lines: int) -> StringCommand:
        return probe_command("journal", {"units": units, "since": since, "lines": lines})
