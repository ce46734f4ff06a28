"""Section of Prometheus and what it asks."""

from pydantic import Field

from glmstead.settings.sections.base import Port, Section, Strings


class MetricsSettings(Section):
    """Prometheus on the gateway host, exporters on all (``metrics_``)."""

    enabled: bool = Field(default=False, description="install and run them; False removes them")
    port: Port = Field(default=9090, description="Prometheus, on the private address")
    node_port: Port = Field(default=9100, description="node exporters, on the private addresses")
    gateway_port: Port = Field(default=4001, description="the gateway's own figures, on loopback")
    dcgm_port: Port | None = Field(
        default=None, description="of the DCGM exporter that every host runs; None: there is none"
    )
    interval_s: int = Field(default=15, ge=1, le=300, description="time between figures, seconds")
    days: int = Field(default=30, ge=1, description="figures are kept so long, days")
    size_gb: int = Field(default=10, ge=1, description="the most that figures may take, GB")
    alertmanagers: Strings = Field(default=(), description="host:port that alerts are sent to")
