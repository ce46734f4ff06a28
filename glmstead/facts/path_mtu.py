"""Whether packets of a size reach the peers whole."""

from pyinfra.api import StringCommand

from glmstead.facts.json_probe import JsonProbe
from glmstead.probes import probe_command


class PathMtu(JsonProbe):
    """``{peer: "" or why not}``; 4 s for each peer that does not answer."""

    def command(self, peers: list[str], interface: str, mtu: int) -> StringCommand:
        request = {"peers": peers, "interface": interface, "mtu": mtu}
        return probe_command("path_mtu", request)
