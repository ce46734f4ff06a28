"""Prometheus and the node exporter: what they are started with and asked for; no I/O."""

from dataclasses import dataclass
from typing import Any

from glmstead import places
from glmstead.settings import Cluster, Settings


@dataclass(frozen=True)
class Part:
    """A program of Debian's that runs as a unit of ours; Debian's own unit has the package's name."""

    package: str
    unit: str
    files: tuple[str, ...]

    @property
    def paths(self) -> list[str]:
        """Everything of it that a deploy writes; the database is not among it."""
        return [
            f"{places.UNITS}/{self.unit}.service",
            f"{places.CONFIG}/inputs/{self.unit}",
            f"/run/glmstead/{self.unit}.started",
            f"/run/glmstead/{self.unit}",
            *self.files,
        ]


NODE_EXPORTER = Part("prometheus-node-exporter", places.NODE_EXPORTER, (places.FIGURES,))
PROMETHEUS = Part("prometheus", places.PROMETHEUS, (places.PROMETHEUS_CONFIG, places.ALERTS))


def wanted(settings: Settings, is_gateway: bool) -> list[Part]:
    """The parts that a host has."""
    if not settings.metrics.enabled:
        return []
    return [NODE_EXPORTER, PROMETHEUS] if is_gateway else [NODE_EXPORTER]


def node_exporter_command(settings: Settings) -> list[str]:
    """Words of the node exporter: its defaults, our units, and the watch's figures."""
    address = f"{settings.cluster.address}:{settings.metrics.node_port}"
    return [
        "/usr/bin/prometheus-node-exporter",
        f"--web.listen-address={address}",
        f"--collector.textfile.directory={places.WATCH_FOLDER}",
        "--collector.systemd",
        "--collector.systemd.unit-include=glmstead-.*",
        "--collector.systemd.enable-start-time-metrics",
    ]


def prometheus_url(settings: Settings) -> str:
    """Where Prometheus answers, on the gateway host's private address."""
    return f"http://{settings.cluster.address}:{settings.metrics.port}"


def prometheus_command(settings: Settings) -> list[str]:
    """Words of Prometheus."""
    metrics = settings.metrics
    return [
        "/usr/bin/prometheus",
        f"--config.file={places.PROMETHEUS_CONFIG}",
        f"--storage.tsdb.path={places.PROMETHEUS_DATA}",
        f"--storage.tsdb.retention.time={metrics.days}d",
        f"--storage.tsdb.retention.size={metrics.size_gb}GB",
        f"--web.listen-address={settings.cluster.address}:{metrics.port}",
    ]


def prometheus_config(settings: Settings, cluster: Cluster) -> dict[str, Any]:
    """Prometheus' configuration: every target has the label ``host``, its inventory name."""
    metrics = settings.metrics
    gateway = {cluster.gateway.name: "127.0.0.1"}
    all_hosts = {member.name: member.address for member in cluster.members}
    jobs = [
        _job("vllm", gateway, settings.vllm.port),
        _job("gateway", gateway, metrics.gateway_port),
        _job("node", all_hosts, metrics.node_port),
    ]
    if settings.engine.kind == "ray":
        jobs.append(_job("ray", all_hosts, settings.ray.metrics_export_port))
    if metrics.dcgm_port is not None:
        jobs.append(_job("dcgm", all_hosts, metrics.dcgm_port))
    managers = {"static_configs": [{"targets": list(metrics.alertmanagers)}]}
    interval = f"{metrics.interval_s}s"
    return {
        "global": {
            "scrape_interval": interval,
            "scrape_timeout": f"{min(10, metrics.interval_s)}s",
            "evaluation_interval": interval,
        },
        "rule_files": [places.ALERTS],
        **({"alerting": {"alertmanagers": [managers]}} if metrics.alertmanagers else {}),
        "scrape_configs": jobs,
    }


def _job(name: str, hosts: dict[str, str], port: int) -> dict[str, Any]:
    targets = [
        {"targets": [f"{address}:{port}"], "labels": {"host": host}}
        for host, address in hosts.items()
    ]
    return {"job_name": name, "static_configs": targets}
