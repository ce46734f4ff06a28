"""What a GPU host is."""

from typing import Any

from pyinfra.api import StringCommand
from pyinfra.api.exceptions import FactProcessError

from glmstead.facts.json_probe import JsonProbe
from glmstead.gpu.read import gpu_host
from glmstead.gpu.values import GpuHost
from glmstead.probes import probe_command


class GpuHostState(JsonProbe):
    """A ``GpuHost``; about a second, and 20 s for each program that hangs."""

    def command(
        self, user: str, environment: dict[str, str], units: list[str], peers: list[str]
    ) -> StringCommand:
        request: dict[str, Any] = {
            "user": user,
            "environment": environment,
            "units": units,
            "peers": peers,
        }
        request |= {"root": "/", "seconds": 20}
        return probe_command("gpu", request)

    def process(self, output: list[str]) -> GpuHost:
        """Typed; raises FactProcessError, which fails this host only."""
        raw = super().process(output)
        try:
            return gpu_host(raw)
        except (LookupError, TypeError, ValueError) as error:
            raise FactProcessError(f"{type(self).__name__}: not readable: {error!r}") from error
