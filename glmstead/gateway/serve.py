"""LiteLLM's proxy behind our front, under uvicorn: run by the gateway's unit.

Usage: python -m glmstead.gateway.serve LITELLM_CONFIG FRONT_CONFIG HOST PORT
"""

import json
import os
import sys
from pathlib import Path

from glmstead.gateway import figures
from glmstead.gateway.app import Front, Gate
from glmstead.gateway.rules import Limits
from glmstead.gateway.sleep import Sleep


def front(document: str) -> tuple[Limits, Gate]:
    """The rules and the gate of a configuration file's text."""
    config = json.loads(document)
    gate = config.pop("gate")
    for name in ("sleep", "figures_port"):
        config.pop(name, None)
    return Limits(**config), Gate(Path(gate) if gate else None)


def sleep(document: str, key: str) -> Sleep:
    """What a configuration file's text says of an engine that may sleep."""
    config = json.loads(document).get("sleep")
    if not config:
        return Sleep()
    return Sleep(Path(config["folder"]), config["wait_s"], key, Path(config["asleep"]))


def main(litellm_config: str, front_config: str, host: str, port: str) -> None:
    """Serve until stopped."""
    os.environ["CONFIG_FILE_PATH"] = litellm_config  # read when LiteLLM's application starts
    import uvicorn
    from litellm.proxy.proxy_server import app

    document = Path(front_config).read_text()
    limits, gate = front(document)
    awake = sleep(document, os.environ["LITELLM_MASTER_KEY"])
    served = Front(app, limits, gate, awake)
    if figures_port := json.loads(document).get("figures_port"):
        figures.served(served.figures, figures_port)
    uvicorn.run(served, host=host, port=int(port), server_header=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
