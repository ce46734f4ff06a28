"""The common half of facts that are answered by one program of ``glmstead.probes``."""

import json
from typing import Any

from pyinfra.api import FactBase
from pyinfra.api.exceptions import FactProcessError


class JsonProbe(FactBase[Any]):
    """One JSON document on one line; a host that answers otherwise fails alone."""

    def process(self, output: list[str]) -> Any:
        """Parsed document; raises FactProcessError, which fails this host only."""
        try:
            return json.loads(output[-1])
        except (IndexError, ValueError) as error:
            raise FactProcessError(f"{type(self).__name__}: not JSON: {output[-1:]}") from error
