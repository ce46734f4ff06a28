"""LiteLLM's proxy behind our front, under uvicorn: run by the gateway's unit.

Usage: python -m glmstead.gateway.serve LITELLM_CONFIG FRONT_CONFIG HOST PORT
"""

import json
import os
import sys
from pathlib import Path

from glmstead.gateway.app import Front, Gate
from glmstead.gateway.rules import Limits


def front(document: str) -> tuple[Limits, Gate]:
    """The rules and the gate of a configuration file's text."""
    config = json.loads(document)
    gate = config.pop("gate")
    return Limits(**config), Gate(Path(gate) if gate else None)


def main(litellm_config: str, front_config: str, host: str, port: str) -> None:
    """Serve until stopped."""
    os.environ["CONFIG_FILE_PATH"] = litellm_config  # read when LiteLLM's application starts
    import uvicorn
    from litellm.proxy.proxy_server import app

    limits, gate = front(Path(front_config).read_text())
    uvicorn.run(Front(app, limits, gate), host=host, port=int(port), server_header=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
