"""What an engine's git checkout holds."""

from typing import Any

from pyinfra.api import StringCommand

from glmstead.facts.json_probe import JsonProbe
from glmstead.probes import probe_command


class GitSource(JsonProbe):
    """``{"head": commit, "made_of": request, "installed": folder}``; each None where absent."""

    def command(self, request: dict[str, Any]) -> StringCommand:
        return probe_command("git_source", request)
