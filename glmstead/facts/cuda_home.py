"""What a CUDA home made of wheels lacks."""

from pyinfra.api import StringCommand

from glmstead.facts.json_probe import JsonProbe
from glmstead.probes import probe_command


class CudaHome(JsonProbe):
    """``{"wrong": [path, ...], "error"}``."""

    def command(self, environment: str, home: str) -> StringCommand:
        request = {"environment": environment, "home": home, "apply": False}
        return probe_command("cuda_home", request)
