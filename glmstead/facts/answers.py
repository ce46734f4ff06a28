"""What the live endpoint answers, asked on the gateway's own host."""

from typing import Any

from pyinfra.api import StringCommand

from glmstead import ROOT
from glmstead.facts.json_probe import JsonProbe
from glmstead.probes import probe_command


class Answers(JsonProbe):
    """Rows of ``glmstead.answers.ask``: name, text or error, seconds."""

    def command(self, request: dict[str, Any]) -> StringCommand:
        return probe_command(ROOT / "glmstead" / "answers" / "ask.py", request)
