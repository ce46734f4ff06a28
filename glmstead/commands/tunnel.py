"""An SSH tunnel to loopback ports of a host, with the connection data of the inventory."""

import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from glmstead.commands.plan import Refusal

_BOUND_S = 15


def ssh_words(name: str, data: Mapping[str, Any]) -> list[str]:
    """Return the words that reach a host as pyinfra does; keys only, it never asks."""
    options = {
        "BatchMode": "yes",
        "ExitOnForwardFailure": "yes",
        "ConnectTimeout": "10",
        "UserKnownHostsFile": data.get("ssh_known_hosts_file"),
        "StrictHostKeyChecking": data.get("ssh_strict_host_key_checking", "accept-new"),
    }
    words = ["ssh", "-N"]
    for key, value in options.items():
        words += ["-o", f"{key}={value}"] if value else []
    for flag, key in (("-F", "config_file"), ("-i", "key"), ("-p", "port"), ("-l", "user")):
        if data.get(f"ssh_{key}"):
            words += [flag, str(data[f"ssh_{key}"])]
    return [*words, str(data.get("ssh_hostname") or name)]


@contextmanager
def tunnel(name: str, data: Mapping[str, Any], ports: list[int]) -> Iterator[dict[int, str]]:
    """Yield ``{port: URL}`` of loopback ports of a host, reachable here; raises Refusal."""
    if "@local" in name:
        yield {port: f"http://127.0.0.1:{port}" for port in ports}
        return
    local = {port: _free_port() for port in ports}
    words = ssh_words(name, data)
    forwards = [w for port, here in local.items() for w in ("-L", f"{here}:127.0.0.1:{port}")]
    process = subprocess.Popen([*words[:1], *forwards, *words[1:]], stderr=subprocess.PIPE)
    try:
        _wait(name, process, next(iter(local.values())))
        yield {port: f"http://127.0.0.1:{here}" for port, here in local.items()}
    finally:
        process.terminate()
        process.wait(10)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait(name: str, process: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + _BOUND_S
    while True:
        if process.poll() is not None:
            said = (
                process.stderr.read().decode(errors="replace").split("\n") if process.stderr else []
            )
            last = next((line for line in reversed(said) if line.strip()), "ssh ended")
            raise Refusal(f"{name}: no SSH tunnel: {last}; fix: a key login, or --through gateway")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        if time.monotonic() > deadline:
            raise Refusal(f"{name}: no SSH tunnel within {_BOUND_S} s; fix: --through gateway")
        time.sleep(0.05)
