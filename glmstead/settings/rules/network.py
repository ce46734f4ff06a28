"""Ports of a host, and the variables that choose its interfaces."""

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network

from glmstead.settings.model import Cluster, Settings
from glmstead.settings.problem import Problem

# Set from a host's own cluster settings; a copy in the environment would win silently.
_DERIVED = {
    "GLOO_SOCKET_IFNAME": "cluster_interface",
    "NCCL_SOCKET_IFNAME": "nccl_socket_interfaces",
    "VLLM_HOST_IP": "cluster_address",
}


def distinct_ports(settings: Settings, cluster: Cluster) -> Iterator[Problem]:
    """All services may share a host (the head), so every port is its own."""
    owners: dict[int, str] = {}
    for key, port in _ports(settings).items():
        if port in owners:
            yield Problem(key, port, f"the same port as {owners[port]}", "give each its own port")
        owners.setdefault(port, key)
    low, high = settings.ray.min_worker_port, settings.ray.max_worker_port
    if low > high:
        fix = "set ray_min_worker_port below ray_max_worker_port"
        yield Problem("ray_min_worker_port", low, f"above ray_max_worker_port {high}", fix)
    for key, port in _ports(settings).items():
        if low <= port <= high:
            wrong = f"within the port range of Ray's workers, {low} to {high}"
            yield Problem(key, port, wrong, "choose a port outside it")


def allowed_networks(settings: Settings, cluster: Cluster) -> Iterator[Problem]:
    """Ray and vLLM talk with nobody outside these networks, so every host must be in one."""
    networks = []
    for text in settings.cluster.allow_from:
        try:
            networks.append(IPv4Network(text))
        except ValueError:
            fix = "give it as 10.0.0.0/8, no bit set behind the prefix"
            yield Problem("cluster_allow_from", text, "not an IPv4 network", fix)
            return
    for member in cluster.members:
        if not any(IPv4Address(member.address) in network for network in networks):
            wrong = f"does not hold {member.name}'s address {member.address}"
            value = settings.cluster.allow_from
            yield Problem(
                "cluster_allow_from", value, wrong, f"add {member.address}/32, or its network"
            )


def interface_variables(settings: Settings, cluster: Cluster) -> Iterator[Problem]:
    """Interfaces and addresses are a host's own: they come from its cluster settings."""
    for key, name, value in _variables(settings):
        if name == "GLOO_SOCKET_IFNAME" and "," in value:
            fix = "remove it and set cluster_interface; lists go to nccl_socket_interfaces"
            yield Problem(key, value, "a list, but Gloo takes exactly one interface", fix)
        elif name in _DERIVED:
            fix = f"remove it and set {_DERIVED[name]}"
            yield Problem(key, value, "differs from host to host", fix)


def variable_values(settings: Settings, cluster: Cluster) -> Iterator[Problem]:
    """Variables that are known to break a start, or to do nothing."""
    for key, name, value in _variables(settings):
        if name == "VLLM_ATTENTION_BACKEND":
            fix = "remove it and set vllm_attention_backend"
            yield Problem(key, value, "no vLLM since 0.15 reads it", fix)
        if name == "NCCL_GRAPH_FILE" and not value:
            yield Problem(key, value, "NCCL fails at init when it is empty", "remove it")
        if name == "CUDA_HOME" and (not value.startswith("/") or ":" in value):
            fix = "give one absolute folder, the one that holds bin/nvcc"
            yield Problem(key, value, "not one absolute folder", fix)
    for name, value in settings.nccl.env.items():
        if not name.startswith("NCCL_"):
            yield Problem(f"nccl_env.{name}", value, "no NCCL_ variable", "move it to engine_env")


def _ports(settings: Settings) -> dict[str, int]:
    ray = {
        f"ray_{name}": port
        for name, port in settings.ray.model_dump().items()
        if name == "port" or (name.endswith("_port") and not name.endswith("worker_port"))
    }
    return {
        "cluster_ssh_port": settings.cluster.ssh_port,
        **ray,
        "model_share_port": settings.model.share_port,
        "vllm_port": settings.vllm.port,
        "gateway_port": settings.gateway.port,
        **_metrics_ports(settings),
    }


def _metrics_ports(settings: Settings) -> dict[str, int]:
    metrics = settings.metrics
    if not metrics.enabled:
        return {}
    names = ("port", "node_port", "gateway_port", "dcgm_port")
    ports = {f"metrics_{name}": getattr(metrics, name) for name in names}
    return {key: port for key, port in ports.items() if port is not None}


def _variables(settings: Settings) -> Iterator[tuple[str, str, str]]:
    for section, env in (("engine", settings.engine.env), ("nccl", settings.nccl.env)):
        for name, value in env.items():
            yield f"{section}_env.{name}", name, value
