"""What makes a host unfit, decided from its probe and its settings; no I/O."""

from typing import Any

from glmstead.settings import Settings

GB = 1e9
OURS = "glmstead-"


def problems(state: dict[str, Any], settings: Settings, ports: dict[str, int]) -> list[str]:
    """One line a reason, each with its fix; empty when the host is fit.

    ``state`` is the document of ``facts.host_state``; ``ports`` are those this host will bind.
    """
    return [
        *_system(state, settings),
        *_python(state, settings),
        *_space(state, settings),
        *_network(state, settings),
        *_ports(state, ports),
    ]


def bound_ports(settings: Settings, groups: list[str]) -> dict[str, int]:
    """``{setting: port}`` of the fixed ports that the roles of one host will bind."""
    ray = settings.ray
    fixed = [
        name
        for name in type(ray).model_fields
        if name.endswith("port") and "worker_port" not in name
    ]
    on_head = ("port", "client_server_port", "monitor_metric_port", "dashboard_metric_port")
    ports = {
        f"ray_{name}": getattr(ray, name)
        for name in fixed
        if settings.engine.kind == "ray" and ("head" in groups or name not in on_head)
    }
    if "head" in groups:
        ports["vllm_port"] = settings.vllm.port
    if "gateway" in groups:
        ports["gateway_port"] = settings.gateway.port
    if settings.metrics.enabled:
        ports["metrics_node_port"] = settings.metrics.node_port
        if "gateway" in groups:
            ports["metrics_port"] = settings.metrics.port
            ports["metrics_gateway_port"] = settings.metrics.gateway_port
    return ports


def _system(state: dict[str, Any], settings: Settings) -> list[str]:
    lines = []
    if not state["apt"]:
        lines.append("no apt-get: this package needs Debian or Ubuntu")
    if not state["systemd"]:
        lines.append("systemd is not PID 1: the services need it")
    memory, needed = state["memory"] / GB, settings.system.memory_gb
    if memory < needed:
        lines.append(f"{memory:.1f} GB of memory, {needed:g} needed: use a larger host")
    return lines


def _python(state: dict[str, Any], settings: Settings) -> list[str]:
    wanted, found = settings.engine.python, state["environment_python"]
    if found is not None and not f"{found}.".startswith(f"{wanted}."):
        return [
            f"{settings.engine.root} holds Python {found}, engine_python is {wanted}: "
            f"set engine_python, or stop the services and remove {settings.engine.root}"
        ]
    return []


def _space(state: dict[str, Any], settings: Settings) -> list[str]:
    path = settings.model.path
    missing = 0.0 if state["present"][path] else settings.model.size_gb
    needed, free = missing + settings.system.disk_free_gb, state["free"][path] / GB
    if free < needed:
        return [
            f"{free:.1f} GB free for {path}, {needed:.1f} needed ({missing:g} for the model, "
            f"{settings.system.disk_free_gb:g} reserve): free space or set model_root"
        ]
    return []


def _network(state: dict[str, Any], settings: Settings) -> list[str]:
    lines = []
    cluster = settings.cluster
    if cluster.address not in state["addresses"].get(cluster.interface, []):
        lines.append(
            f"{cluster.address} is not on {cluster.interface} (found {state['addresses']}): "
            "set cluster_address and cluster_interface of this host"
        )
    for address, port in state["unreachable"]:
        lines.append(f"cannot reach its peer {address}:{port}: check routes and firewall")
    return lines


def _ports(state: dict[str, Any], ports: dict[str, int]) -> list[str]:
    lines = []
    for name, port in ports.items():
        holder = state["listening"].get(str(port))
        if holder and not holder["unit"].startswith(OURS):
            who = f"{holder['process'] or 'a process'} (pid {holder['pid'] or 'unknown'})"
            unit = f" of {holder['unit']}" if holder["unit"] else ""
            lines.append(f"port {port} is taken by {who}{unit}: stop it or set {name}")
    return lines


def clock_difference(offsets: dict[str, float], limit_s: float) -> str | None:
    """A line when two clocks of the cluster differ by more than ``limit_s`` seconds."""
    slow, fast = min(offsets, key=lambda h: offsets[h]), max(offsets, key=lambda h: offsets[h])
    difference = offsets[fast] - offsets[slow]
    if difference <= limit_s:
        return None
    return f"clocks of {slow} and {fast} differ by {difference:.1f} s: enable timesyncd or chrony"
