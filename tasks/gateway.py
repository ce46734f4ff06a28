"""LiteLLM in front of vLLM, in an environment of its own, on the gateway host."""

import yaml
from pyinfra import host
from pyinfra.api import deploy

from glmstead import places
from glmstead.lock import lock_path
from glmstead.operations import environments, secrets, units
from glmstead.operations.managed_files import ManagedFile, managed_files
from glmstead.serving import exec_line, gateway_config
from glmstead.settings import Settings
from glmstead.unit_files import unit_file
from tasks.engine import sources_of


@deploy("Gateway environment")
def install_gateway(settings: Settings) -> None:
    if "gateway" not in host.groups:
        return
    environments.locked(
        name=f"LiteLLM {settings.gateway.version} as locked",
        root=settings.gateway.root,
        lock=lock_path(settings.gateway.lock).read_text(),
        python=settings.engine.python,
        sources=sources_of(settings),
        units=[places.GATEWAY],
    )


@deploy("Gateway configuration")
def configure_gateway(settings: Settings) -> None:
    if "gateway" not in host.groups:
        return
    gateway = settings.gateway
    secrets.generated(name="Master key", path=places.GATEWAY_ENV, prefix="LITELLM_MASTER_KEY=sk-")
    config = yaml.safe_dump(gateway_config(settings), sort_keys=False)
    managed_files(name="LiteLLM configuration", files=[ManagedFile(places.GATEWAY_CONFIG, config)])
    ready = f"http://127.0.0.1:{gateway.port}/health/liveliness"
    server = [f"{gateway.root}/bin/litellm", "--config", places.GATEWAY_CONFIG]
    managed_files(
        name="Gateway unit",
        files=unit_file(
            places.GATEWAY,
            inputs=[places.GATEWAY_CONFIG, places.GATEWAY_ENV, f"{gateway.root}/glmstead.lock"],
            user=settings.system.user,
            command=exec_line([*server, "--host", gateway.bind, "--port", str(gateway.port)]),
            wait_ready=exec_line(
                ["/usr/bin/python3", f"{places.LIBEXEC}/wait_answer.py", ready, "170"]
            ),
            environment={
                "HOME": "/var/cache/glmstead-gateway",
                "NO_DOCS": "True",
                "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            },
        ),
    )


@deploy("Gateway")
def open_gateway(settings: Settings) -> None:
    units.running(name="LiteLLM answers", unit=places.GATEWAY, here="gateway" in host.groups)
