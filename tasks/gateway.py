"""LiteLLM in front of vLLM, in an environment of its own, on the gateway host."""

import json

import yaml
from pyinfra import host
from pyinfra.api import deploy

from glmstead import ROOT, places
from glmstead.lock import lock_path
from glmstead.operations import environments, secrets, units
from glmstead.operations.managed_files import ManagedFile, managed_files
from glmstead.serving import exec_line, front_config, gate_config, gateway_config, gateway_url
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
    front = json.dumps(front_config(settings)) + "\n"
    files = [ManagedFile(places.GATEWAY_CONFIG, config), ManagedFile(places.GATEWAY_FRONT, front)]
    managed_files(name="LiteLLM configuration", files=files)
    names = ("rules", "sleep", "figures", "app", "serve")
    programs = shipped(*(f"gateway/{name}" for name in names))
    managed_files(name="Front of LiteLLM", files=programs)
    ready = [f"{gateway_url(settings)}/health/liveliness", "170"]
    server = [f"{gateway.root}/bin/python", "-m", "glmstead.gateway.serve", places.GATEWAY_CONFIG]
    server += [places.GATEWAY_FRONT, gateway.bind, str(gateway.port)]
    inputs = [*(file.path for file in (*files, *programs)), places.GATEWAY_ENV]
    managed_files(
        name="Gateway unit",
        files=unit_file(
            places.GATEWAY,
            inputs=[*inputs, f"{gateway.root}/glmstead.lock"],
            user=settings.system.user,
            command=exec_line(server),
            wait_ready=exec_line(["/usr/bin/python3", f"{places.LIBEXEC}/wait_answer.py", *ready]),
            environment={
                "HOME": "/var/cache/glmstead-gateway",
                "NO_DOCS": "True",
                "LITELLM_LOCAL_MODEL_COST_MAP": "True",
                "PYTHONPATH": places.LIBEXEC,
                "PYTHONDONTWRITEBYTECODE": "1",
            },
        ),
    )


@deploy("Gate configuration")
def configure_gate(settings: Settings) -> None:
    if "gateway" not in host.groups:
        return
    text = json.dumps(gate_config(settings)) + "\n"
    files = [ManagedFile(places.GATE_CONFIG, text)]
    files += shipped("answers/ask", "answers/questions", "answers/gate")
    managed_files(name="Questions of the gate", files=files)
    words = ["/usr/bin/python3", "-m", "glmstead.answers.gate", places.GATE_CONFIG]
    managed_files(
        name="Gate unit",
        files=unit_file(
            places.GATE,
            inputs=[*(file.path for file in files), places.GATEWAY_ENV],
            user=settings.system.user,
            command=exec_line([*words, places.GATE_FOLDER]),
            folder=places.GATE_FOLDER,
            start_timeout_s=settings.smoke.timeout_s * 9 + 30,
        ),
    )


def shipped(*modules: str) -> list[ManagedFile]:
    """Modules of this package that run on the host, under the same name."""
    return [
        ManagedFile(
            f"{places.LIBEXEC}/glmstead/{module}.py",
            (ROOT / "glmstead" / f"{module}.py").read_text(),
        )
        for module in modules
    ]


@deploy("Gateway")
def open_gateway(settings: Settings) -> None:
    here = "gateway" in host.groups
    units.running(name="LiteLLM answers", unit=places.GATEWAY, here=here)
    units.running(name="People are served", unit=places.GATE, here=here)
