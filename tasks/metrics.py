"""Prometheus on the gateway host and the node exporter on all, or neither."""

import yaml
from pyinfra import host
from pyinfra.api import deploy

from glmstead import ROOT, places
from glmstead import metrics as parts
from glmstead.operations import metrics, units
from glmstead.operations.managed_files import ManagedFile, managed_files
from glmstead.serving import exec_line
from glmstead.settings import Cluster, Settings
from glmstead.unit_files import unit_file

WAIT = ["/usr/bin/python3", f"{places.LIBEXEC}/wait_answer.py"]


@deploy("Metrics")
def keep_figures(settings: Settings, cluster: Cluster) -> None:
    is_gateway = "gateway" in host.groups
    wanted = parts.wanted(settings, is_gateway)
    others = [one for one in (parts.PROMETHEUS, parts.NODE_EXPORTER) if one not in wanted]
    metrics.removed(name="Nothing that is not declared", parts=others)
    if not wanted:
        return
    metrics.programs(name="Programs", parts=wanted)
    url = f"http://{settings.cluster.address}:{settings.metrics.node_port}/"
    managed_files(
        name="Node exporter's unit",
        files=unit_file(
            places.NODE_EXPORTER,
            inputs=[],
            command=exec_line(parts.node_exporter_command(settings)),
            wait_ready=exec_line([*WAIT, url, "60"]),
            allow_from=settings.cluster.allow_from,
        ),
    )
    units.running(name="Node exporter answers", unit=places.NODE_EXPORTER, here=True)
    if is_gateway:
        configure_prometheus(settings, cluster)
    units.running(name="Prometheus answers", unit=places.PROMETHEUS, here=is_gateway)


def configure_prometheus(settings: Settings, cluster: Cluster) -> None:
    """Configuration, alert rules and unit of Prometheus."""
    config = yaml.safe_dump(parts.prometheus_config(settings, cluster), sort_keys=False)
    alerts = (ROOT / "files" / "metrics" / "alerts.yaml").read_text()
    files = [
        ManagedFile(places.PROMETHEUS_CONFIG, config),
        ManagedFile(places.ALERTS, alerts),
    ]
    managed_files(name="Prometheus' configuration and alerts", files=files)
    managed_files(
        name="Prometheus' unit",
        files=unit_file(
            places.PROMETHEUS,
            inputs=[file.path for file in files],
            check=exec_line(["/usr/bin/promtool", "check", "config", places.PROMETHEUS_CONFIG]),
            command=exec_line(parts.prometheus_command(settings)),
            wait_ready=exec_line([*WAIT, f"{parts.prometheus_url(settings)}/-/ready", "170"]),
            allow_from=settings.cluster.allow_from,
        ),
    )
