"""Prometheus' configuration, read back from settings; valid to promtool."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from glmstead import ROOT, places
from glmstead.inventory import load, settings_of
from glmstead.metrics import NODE_EXPORTER, PROMETHEUS, prometheus_config, wanted
from glmstead.serving import front_config
from glmstead.settings import Settings, cluster_of
from tests.promtool import promtool
from tests.unit.conftest import Refusals

Configured = Callable[..., dict[str, Any]]


@pytest.fixture
def configured(inventory_file: Callable[..., Path]) -> Configured:
    """The configuration of a fleet's Prometheus."""

    def of(hosts: int = 2, route: str = "lab", **data: Any) -> dict[str, Any]:
        inventory = load(inventory_file(hosts=hosts, route=route, data={ON: True, **data}))
        return prometheus_config(settings_of(inventory)["@fake/h1"], cluster_of(inventory))

    return of


ON = "metrics_enabled"


def targets(config: dict[str, Any]) -> dict[str, dict[str, str]]:
    return {
        job["job_name"]: {one["labels"]["host"]: one["targets"][0] for one in job["static_configs"]}
        for job in config["scrape_configs"]
    }


def test_everything_of_a_cluster_is_asked(configured: Configured) -> None:
    assert targets(configured(metrics_dcgm_port=9400)) == {
        "vllm": {"@fake/h1": "127.0.0.1:8000"},
        "gateway": {"@fake/h1": "127.0.0.1:4001"},
        "node": {"@fake/h1": "10.77.42.1:9100", "@fake/h2": "10.77.42.2:9100"},
        "ray": {"@fake/h1": "10.77.42.1:6386", "@fake/h2": "10.77.42.2:6386"},
        "dcgm": {"@fake/h1": "10.77.42.1:9400", "@fake/h2": "10.77.42.2:9400"},
    }


def test_what_a_route_lacks_is_not_asked(configured: Configured) -> None:
    assert set(targets(configured(hosts=1, route="b12x4", model_revision="0" * 40))) == {
        "vllm",
        "gateway",
        "node",
    }


def test_promtool_takes_the_configuration(
    configured: Configured, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    config = configured(metrics_alertmanagers=["alerts.example:9093"], metrics_interval_s=5)
    (tmp_path / "alerts.yaml").write_text((ROOT / "files/metrics/alerts.yaml").read_text())
    assert config["rule_files"] == [places.ALERTS]
    config["rule_files"] = ["alerts.yaml"]
    path = tmp_path / "prometheus.yaml"
    path.write_text(yaml.safe_dump(config, sort_keys=False))
    done = promtool(request.config, "check", "config", path)

    assert done.returncode == 0, done.stderr
    assert "alerts.example:9093" in path.read_text()


def test_parts_follow_the_role_and_the_setting(
    settings: Callable[..., dict[str, Settings]],
) -> None:
    off, on = settings()["@fake/h1"], settings(name="on", data={ON: True})["@fake/h1"]

    assert wanted(off, is_gateway=True) == []
    assert wanted(on, is_gateway=True) == [NODE_EXPORTER, PROMETHEUS]
    assert wanted(on, is_gateway=False) == [NODE_EXPORTER]
    assert "figures_port" not in front_config(off)
    assert front_config(on)["figures_port"] == 4001


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (
            {"metrics_port": 8000},
            "metrics_port: 8000: the same port as vllm_port; fix: give each its own port",
        ),
        (
            {"metrics_dcgm_port": 9100},
            "metrics_dcgm_port: 9100: the same port as metrics_node_port; "
            "fix: give each its own port",
        ),
    ],
)
def test_ports_collide_only_where_they_are_used(
    refusals: Refusals, data: dict[str, int], line: str
) -> None:
    assert refusals(data=data) == []
    assert any(one.endswith(line) for one in refusals(name="on", data={ON: True, **data}))
