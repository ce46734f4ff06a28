"""What a deploy must know of a host before it changes anything."""

import time
from typing import Any

from pyinfra.api import StringCommand

from glmstead.facts.json_probe import JsonProbe
from glmstead.probes import probe_command


class HostState(JsonProbe):
    """The document of ``glmstead.probes.host`` plus ``clock_offset`` to this machine, seconds."""

    def command(
        self, python: str, environment: str, paths: list[str], peers: list[list[Any]]
    ) -> StringCommand:
        request = {"python": python, "environment": environment, "paths": paths, "peers": peers}
        return probe_command("host", request)

    def process(self, output: list[str]) -> Any:
        """The document; the offset is measured on arrival, so it holds one way of latency."""
        state = super().process(output)
        state["clock_offset"] = state["time"] - time.time()
        return state
