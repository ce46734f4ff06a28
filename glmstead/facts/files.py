"""What lies at a set of paths."""

from pyinfra.api import StringCommand

from glmstead.facts.json_probe import JsonProbe
from glmstead.probes import probe_command


class FileStates(JsonProbe):
    """``{path: [sha256, mode, "owner:group"] or None}`` in one round trip."""

    def command(self, paths: list[str]) -> StringCommand:
        return probe_command("files", paths)
