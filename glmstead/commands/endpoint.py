"""How commands reach the live endpoint of an inventory: its settings, key, journal and URLs."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from glmstead.commands import plan
from glmstead.commands.plan import Refusal
from glmstead.commands.tunnel import tunnel
from glmstead.settings import Cluster, Settings

THROUGH = ("both", "gateway", "direct")


@dataclass(frozen=True)
class Declared:
    """An endpoint as an inventory declares it: settings and host of the gateway."""

    settings: Settings
    cluster: Cluster
    name: str
    data: dict[str, Any]

    @property
    def url(self) -> str | None:
        """The gateway's URL for people; None when it listens on loopback only."""
        gateway = self.settings.gateway
        bind = ip_address("127.0.0.1" if gateway.bind == "localhost" else gateway.bind)
        if bind.is_loopback:
            return None
        host = self.data.get("ssh_hostname") or self.name
        host = "127.0.0.1" if host == "@local" else host
        if not bind.is_unspecified:  # there and nowhere else
            host = str(bind) if bind.version == 4 else f"[{bind}]"
        return f"http://{host}:{gateway.port}"


@dataclass(frozen=True)
class Live(Declared):
    """A deployed endpoint: also what its host says (``state`` holds the key)."""

    state: dict[str, Any]


def declared(path: Path) -> Declared:
    """Read an inventory, contacting no host; raises Refusal."""
    settings, cluster, host = _read(path)
    return Declared(settings, cluster, host.name, dict(host.data.dict()))


def live(path: Path) -> Live:
    """Ask the gateway's host of an inventory; raises Refusal."""
    from glmstead.commands.ask_one import fact_of
    from glmstead.facts.endpoint import EndpointState

    settings, cluster, host = _read(path)
    state = fact_of(host.inventory, host.name, EndpointState, settings=settings)
    if state is None:
        raise Refusal(f"{host.name}: no answer over SSH; fix: check the host and its connection")
    if state["key"] is None:
        raise Refusal(f"{host.name}: no gateway key on it; fix: glmstead deploy {path}")
    return Live(settings, cluster, host.name, dict(host.data.dict()), state)


def _read(path: Path) -> tuple[Settings, Cluster, Any]:
    loaded, settings, cluster = plan.declared(path)
    name = cluster.gateway.name
    return settings[name], cluster, loaded.get_host(name)


@contextmanager
def endpoints(
    found: Live, through: str, model: str | None, key: str | None
) -> Iterator[list[dict[str, Any]]]:
    """Yield the endpoints to ask, for ``answers.session``; vLLM itself is reached by a tunnel."""
    gateway, vllm = found.settings.gateway, found.settings.vllm
    name = model or vllm.served_model_name
    ports = [vllm.port] if through != "gateway" else []
    ports += [gateway.port] if found.url is None and through != "direct" else []
    with _tunnel(found, ports) as urls:
        chosen = []
        if through != "direct":
            url = found.url or urls[gateway.port]
            held = key or found.state["key"]
            chosen.append({"name": "gateway", "url": url, "model": name, "key": held})
        if through != "gateway":
            chosen.append({"name": "direct", "url": urls[vllm.port], "model": name})
        yield chosen


@contextmanager
def _tunnel(found: Live, ports: list[int]) -> Iterator[dict[int, str]]:
    if not ports:
        yield {}
        return
    with tunnel(found.name, found.data, ports) as urls:
        yield urls
