"""What is true of source patches in one Python environment of a host."""

import json
from typing import Any

from pyinfra.api import FactBase, QuoteString, StringCommand
from pyinfra.api.exceptions import FactProcessError

from glmstead.patching.catalogue import load_catalogue
from glmstead.patching.program import program_command
from glmstead.patching.request import probe_request

Rows = list[dict[str, Any]]


class PatchVerdicts(FactBase[Rows | None]):
    """One row a patch of the catalogue, from one command.

    None: there is no such interpreter yet. Empty: it gave no verdict, and the host's log says why.

    + python: interpreter of the environment
    """

    def command(self, python: str) -> StringCommand:
        probe = program_command(python, probe_request(load_catalogue()))
        return StringCommand(
            *("if test -x", QuoteString(python), "; then", probe, "; else echo null; fi")
        )

    @staticmethod
    def default() -> Rows | None:
        """What a host gets whose answer cannot be had."""
        return []

    def process(self, output: list[str]) -> Rows | None:
        """Rows; raises FactProcessError, which fails this host only."""
        try:
            document = json.loads(output[-1])
            rows: Rows | None = None if document is None else document["rows"]
        except (LookupError, ValueError, TypeError):
            # from None: pyinfra would show the cause instead
            raise FactProcessError(f"patch verdicts: not readable: {output[-1:]}") from None
        return rows
