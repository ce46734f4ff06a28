"""Every alert in promtool: silent while all is well, firing on the failure it is for."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from glmstead import ROOT
from tests.promtool import promtool

ALERTS = ROOT / "files/metrics/alerts.yaml"
Series = dict[str, str]

HEAD, WORKER = 'host="h1"', 'host="h2"'
UNIT = f'node_systemd_unit_state{{{HEAD},name="glmstead-%s.service",state="%s"}}'
STARTED = f'node_systemd_unit_start_time_seconds{{{HEAD},name="glmstead-vllm.service"}}'
REQUESTS = f'glmstead_gateway_requests_total{{{HEAD},kind="messages",status="%s"}}'
DISK = f'node_filesystem_%s_bytes{{{WORKER},mountpoint="/",fstype="ext4"}}'

# An hour of a cluster that serves: a value a minute.
WELL: Series = {
    f'up{{job="vllm",{HEAD}}}': "1x60",
    f'up{{job="node",{HEAD}}}': "1x60",
    f'up{{job="node",{WORKER}}}': "1x60",
    f'vllm:num_requests_running{{{HEAD},engine="0"}}': "3x60",
    f'vllm:num_requests_waiting{{{HEAD},engine="0"}}': "2x8 0x52",
    f'vllm:iteration_tokens_total_count{{{HEAD},engine="0"}}': "0+60x60",
    f'vllm:kv_cache_usage_perc{{{HEAD},engine="0"}}': "0.99x5 0.6x55",
    f'glmstead_asleep{{{HEAD},unit="glmstead-vllm"}}': "0x60",
    f'glmstead_gave_up{{{HEAD},unit="glmstead-vllm"}}': "0x60",
    f'glmstead_watch_gave_up{{{HEAD},unit="glmstead-vllm"}}': "0x60",
    f'glmstead_patch_missing{{{WORKER},patch="ABORT_RACE_FIX"}}': "0x60",
    f"glmstead_figures_timestamp_seconds{{{WORKER}}}": "0+60x60",
    f'glmstead_gpu_driver{{{WORKER},state="ok"}}': "1x60",
    f"glmstead_gpus_found{{{WORKER}}}": "8x60",
    f"glmstead_gpus_declared{{{WORKER}}}": "8x60",
    f"glmstead_gpus_slowed{{{WORKER}}}": "0x20 8x8 0x32",
    f'DCGM_FI_DEV_XID_ERRORS{{{WORKER},gpu="3"}}': "0x60",
    UNIT % ("gate", "active"): "0x3 1x57",
    UNIT % ("vllm", "failed"): "0x60",
    STARTED: "100x10 0x5 700x10 0x5 1300x30",
    REQUESTS % "200": "0+60x60",
    REQUESTS % "503": "0+60x60",
    REQUESTS % "500": "0+1x60",
    DISK % "avail": "20x60",
    DISK % "size": "100x60",
}
# What must change of that for each alert to fire.
FIRES: list[tuple[str, Series]] = [
    ("EngineDown", {f'up{{job="vllm",{HEAD}}}': "1x10 0x50"}),
    ("NoTokens", {f'vllm:iteration_tokens_total_count{{{HEAD},engine="0"}}': "900x60"}),
    ("KvCacheFull", {f'vllm:kv_cache_usage_perc{{{HEAD},engine="0"}}': "0.97x60"}),
    ("RequestsWait", {f'vllm:num_requests_waiting{{{HEAD},engine="0"}}': "2x60"}),
    ("GateClosed", {UNIT % ("gate", "active"): "0x60"}),
    ("GateClosed", {UNIT % ("gate", "active"): "stale"}),  # never started
    ("GatewayErrors", {REQUESTS % "500": "0+10x60"}),
    ("GatewayErrors", {REQUESTS % "0": "0+10x60"}),
    ("EngineRestarts", {STARTED: "100x8 0x2 700x8 0x2 1300x8 0x2 1900x30"}),
    ("StartsGivenUp", {f'glmstead_gave_up{{{HEAD},unit="glmstead-vllm"}}': "1x60"}),
    ("StartsGivenUp", {f'glmstead_watch_gave_up{{{HEAD},unit="glmstead-vllm"}}': "1x60"}),
    ("UnitFailed", {UNIT % ("vllm", "failed"): "1x60"}),
    ("PatchMissing", {f'glmstead_patch_missing{{{WORKER},patch="ABORT_RACE_FIX"}}': "1x60"}),
    ("FiguresStale", {f"glmstead_figures_timestamp_seconds{{{WORKER}}}": "0+60x30 1800x30"}),
    ("TargetDown", {f'up{{job="node",{WORKER}}}': "0x60"}),
    (
        "DriverMismatch",
        {
            f'glmstead_gpu_driver{{{WORKER},state="ok"}}': "stale",
            f'glmstead_gpu_driver{{{WORKER},state="mismatch"}}': "1x60",
        },
    ),
    ("DriverWrong", {f'glmstead_gpu_driver{{{WORKER},state="hung"}}': "1x60"}),
    ("GpusMissing", {f"glmstead_gpus_found{{{WORKER}}}": "7x60"}),
    ("GpusWait", {f"glmstead_gpus_slowed{{{WORKER}}}": "8x60"}),
    ("GpuError", {f'DCGM_FI_DEV_XID_ERRORS{{{WORKER},gpu="3"}}': "79x60"}),
    ("DiskFull", {DISK % "avail": "4x60"}),
]
NAMES = [
    rule["alert"]
    for group in yaml.safe_load(ALERTS.read_text())["groups"]
    for rule in group["rules"]
]


@pytest.fixture
def firing(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """Fail unless exactly these alerts fire after 50 minutes of these series."""

    def check(series: Series, names: set[str]) -> None:
        expression = 'count by (alertname) (ALERTS{alertstate="firing"})'
        samples = [{"labels": f'{{alertname="{name}"}}', "value": 1} for name in sorted(names)]
        asked = {"expr": expression, "eval_time": "50m", "exp_samples": samples}
        test = {
            "interval": "1m",
            "input_series": [{"series": key, "values": text} for key, text in series.items()],
            "promql_expr_test": [asked],
        }
        document = {"rule_files": [str(ALERTS)], "evaluation_interval": "1m", "tests": [test]}
        path = tmp_path / "test.yaml"
        path.write_text(yaml.safe_dump(document))
        done = promtool(request.config, "test", "rules", path)
        assert done.returncode == 0, done.stdout + done.stderr

    return check


def test_the_rules_are_valid(request: pytest.FixtureRequest) -> None:
    done = promtool(request.config, "check", "rules", ALERTS)

    assert f"SUCCESS: {len(NAMES)} rules found" in done.stdout, done.stderr


def test_nothing_fires_while_all_is_well(firing: Any) -> None:
    firing(WELL, set())


@pytest.mark.parametrize(("name", "changed"), FIRES)
def test_each_failure_is_one_alert(firing: Any, name: str, changed: Series) -> None:
    firing({**WELL, **changed}, {name})


def test_every_alert_has_been_seen_firing() -> None:
    assert {name for name, _ in FIRES} == set(NAMES)


def test_an_engine_that_sleeps_is_not_down(firing: Any) -> None:
    asleep = {
        f'up{{job="vllm",{HEAD}}}': "0x60",
        f'glmstead_asleep{{{HEAD},unit="glmstead-vllm"}}': "1x60",
    }
    firing({**WELL, **asleep}, set())


def test_an_engine_that_loads_is_not_a_closed_gate(firing: Any) -> None:
    loads = {f'up{{job="vllm",{HEAD}}}': "0x4 1x56", UNIT % ("gate", "active"): "0x8 1x52"}

    firing({**WELL, **loads}, set())
