"""Network interfaces of a host."""

import json

from pyinfra.api import FactBase
from pyinfra.api.exceptions import FactProcessError


class Mtus(FactBase[dict[str, int]]):
    """``{interface: MTU}``."""

    def command(self) -> str:
        return "ip -j link show"

    def process(self, output: list[str]) -> dict[str, int]:
        """By name; raises FactProcessError, which fails this host only."""
        try:
            return {link["ifname"]: link["mtu"] for link in json.loads("".join(output)) if link}
        except (LookupError, ValueError) as error:
            raise FactProcessError(f"ip: not readable: {output[:1]}") from error
