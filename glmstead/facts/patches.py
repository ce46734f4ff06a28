"""What is true of source patches in one Python environment of a host."""

import json
from typing import Any

from pyinfra.api import FactBase, QuoteString, StringCommand
from pyinfra.api.exceptions import FactProcessError

from glmstead.patching.catalogue import load_catalogue
from glmstead.patching.program import program_command
from glmstead.patching.request import probe_request


class PatchVerdicts(FactBase[list[dict[str, Any]] | None]):
    """One row a patch of the catalogue, from one command; None: no such interpreter yet.

    + python: interpreter of the environment
    + tags: patches to look at, None for all
    """

    def command(self, python: str, tags: tuple[str, ...] | None = None) -> StringCommand:
        request = probe_request(load_catalogue(), tags)
        return StringCommand(
            "! test -x", QuoteString(python), "||", program_command(python, request)
        )

    def process(self, output: list[str]) -> list[dict[str, Any]] | None:
        """Rows; raises FactProcessError, which fails this host only."""
        try:
            rows: list[dict[str, Any]] = json.loads(output[-1])["rows"]
        except (LookupError, ValueError, TypeError) as error:
            raise FactProcessError(f"patch verdicts: not readable: {output[-1:]}") from error
        return rows
