"""Makes @fake hosts answer our probes like machines on which nothing was deployed yet.

pyinfra's own canned answers are fixed texts, but a probe's answer depends on its request.
"""

import json
import re
import shlex
from collections.abc import Callable
from typing import Any

from pyinfra.connectors.fake import FakeConnector
from pyinfra.connectors.util import CommandOutput, OutputLine

from tests.gpu_samples import links, raw_host

_ABSENT_UNIT = {
    "LoadState": "not-found",
    "ActiveState": "inactive",
    "UnitFileState": "",
    "NeedDaemonReload": "no",
    "stale": [],
}
_REFUSAL = re.compile(r"^(.*) >&2; exit 1$", re.DOTALL)
_FACTS = {
    "ip -j link show": "[]",
    "; else echo null; fi": "null",
    "uname -s": "Linux",
    "command -v useradd": "/usr/sbin/useradd",
}


def install() -> None:
    """Answer in place of @fake, whose hosts say what they are in ``fake_responses["state"]``."""

    def respond(self: FakeConnector, command_str: str) -> tuple[bool, CommandOutput]:
        state = (self.data.get("fake_responses") or {}).get("state", {})
        refusal = _REFUSAL.search(command_str)
        stream, text = (
            ("stderr", shlex.split(refusal[1])[-1])
            if refusal
            else ("stdout", answer(command_str, state))
        )
        lines = [OutputLine(stream, line) for line in text.splitlines()]
        return not refusal, CommandOutput(lines)

    FakeConnector._lookup_response = respond  # type: ignore[method-assign]


def answer(command: str, state: dict[str, Any]) -> str:
    """Return what a bare host says to a command; ``state`` changes its answer to preflight."""
    for phrase, text in _FACTS.items():
        if phrase in command:
            return text
    for phrase, respond in _PROBES.items():
        if phrase in command:
            return json.dumps(respond(json.loads(shlex.split(command)[-1]), state))
    return ""


def _host(request: dict[str, Any], state: dict[str, Any]) -> dict[str, Any]:
    return {
        "machine": "x86_64",
        "python": "3.11.2",
        "wanted_python": "/usr/bin/python3.11",
        "environment_python": None,
        "apt": True,
        "systemd": True,
        "free": dict.fromkeys(request["paths"], 2e12),
        "present": dict.fromkeys(request["paths"], False),
        "memory": 1.5e12,
        "addresses": {},
        "listening": {},
        "unreachable": [],
        "time": 0.0,
        **state,
    }


def _units(request: list[str], state: dict[str, Any]) -> dict[str, Any]:
    return {"units": dict.fromkeys(request, _ABSENT_UNIT), "ray_session": ""}


def _environment(request: dict[str, Any], state: dict[str, Any]) -> dict[str, Any]:
    return {"python": None, "lock": None, "versions": {}}


def _model(request: dict[str, Any], state: dict[str, Any]) -> dict[str, Any]:
    nothing: dict[str, Any] = {
        "config": {},
        "quant": {},
        "index": [],
        "kv_scales": False,
        "files": {},
    }
    unknown = {"origin": "", "manifest": "", "verified": {}, "lacking": [], "strays": []}
    return {**nothing, **unknown, "copied": False}


def _files(request: list[str], state: dict[str, Any]) -> dict[str, Any]:
    return dict.fromkeys(request)


def _answers(request: dict[str, Any], state: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"name": ask["name"], "error": "no connection"} for ask in request["asks"]]


def _gpu(request: dict[str, Any], state: dict[str, Any]) -> dict[str, Any]:
    raw = raw_host()
    network = {**raw["network"], "links": links(host0=8896), "routes": {}}
    return {**raw, "network": network, **state.get("gpu", {})}


def _nothing_moves(request: None, state: dict[str, Any]) -> dict[str, Any]:
    return {"dist_upgrade": [], "unattended": [], "error": ""}


def _no_compiler(request: dict[str, Any], state: dict[str, Any]) -> dict[str, Any]:
    return {"wrong": ["/opt/glmstead/cuda/bin"], "error": ""}


def _docker(request: dict[str, Any], state: dict[str, Any]) -> dict[str, Any]:
    absent = {
        "version": "",
        "configured": "",
        "devices": "",
        "driver": "",
        "inside": None,
        "needs": "",
    }
    return {**absent, **state.get("docker", {})}


_PROBES: dict[str, Callable[[Any, dict[str, Any]], Any]] = {
    "Says what a deploy must know of a host": _host,
    "Says what a GPU host is": _gpu,
    "Says which packages the next upgrades": _nothing_moves,
    "Says how the container engine is set up": _docker,
    "Says whether packets of a size": lambda request, state: {},
    "Says whether journald runs": lambda request, state: {"digest": None, "stale": False},
    "Makes a checkout of an upstream": lambda request, state: {
        "head": None,
        "made_of": None,
        "installed": None,
    },
    "Says what Docker holds": lambda request, state: {
        "daemon": False,
        "images": dict.fromkeys(request["references"]),
        "running": None,
    },
    "Says what routes have put": lambda request, state: {
        "units": [],
        "paths": [],
        "images": [],
        "containers": [],
        "in_container": False,
    },
    "Says what a folder lacks": _no_compiler,
    "Says what systemd knows of units": _units,
    "Says what a virtual environment holds": _environment,
    "Says what lies in a checkpoint": _model,
    "Says sha256, mode and owner of files": _files,
    "Asks an endpoint": _answers,
}
