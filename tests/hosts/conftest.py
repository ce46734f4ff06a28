"""Real SSH to every host of an inventory: `pytest tests/hosts --inventory inventories/lab.py`."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import testinfra
from pyinfra.api.host import Host as InventoryHost
from pyinfra.api.inventory import Inventory
from testinfra.host import Host

from glmstead.inventory import load, settings_of
from glmstead.metrics import wanted
from glmstead.settings import Cluster, Settings, cluster_of


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test a host for whoever asks for `member`."""
    if "member" in metafunc.fixturenames:
        metafunc.parametrize("member", [host.name for host in load(inventory_path(metafunc))])


def inventory_path(source: Any) -> Path:
    """The inventory under test; a usage error where none is named."""
    value: str | None = source.config.getoption("--inventory")
    if value is None:
        raise pytest.UsageError("tests/hosts asks real hosts: pass --inventory INVENTORY")
    return Path(value)


def connection(host: InventoryHost) -> Host:
    """testinfra over the inventory's own SSH data."""
    data = host.data
    options = ["-o StrictHostKeyChecking=yes", "-o LogLevel=ERROR"]
    if known_hosts := data.get("ssh_known_hosts_file"):
        options.append(f"-o UserKnownHostsFile={shlex.quote(known_hosts)}")
    user, port = data.get("ssh_user", "root"), data.get("ssh_port", 22)
    return testinfra.get_host(
        f"ssh://{user}@{data.get('ssh_hostname', host.name)}:{port}",
        ssh_identity_file=data.get("ssh_key"),
        ssh_extra_args=" ".join(options),
        sudo=bool(data.get("_sudo")),
    )


@pytest.fixture(scope="session")
def inventory(request: pytest.FixtureRequest) -> Inventory:
    return load(inventory_path(request))


@pytest.fixture(scope="session")
def cluster(inventory: Inventory) -> Cluster:
    return cluster_of(inventory)


@pytest.fixture(scope="session")
def machines(inventory: Inventory) -> Iterator[dict[str, Host]]:
    yield {host.name: connection(host) for host in inventory}


@pytest.fixture
def machine(member: str, machines: dict[str, Host]) -> Host:
    return machines[member]


@pytest.fixture
def settings(member: str, inventory: Inventory) -> Settings:
    return settings_of(inventory)[member]


@pytest.fixture
def units(member: str, cluster: Cluster, settings: Settings) -> list[str]:
    """Units that the roles of a host call for."""
    measured = wanted(settings, member == cluster.gateway.name)
    names = ["glmstead-watch", *(part.unit for part in measured)]
    if member == cluster.head.name:
        names += ["glmstead-ray-head", "glmstead-vllm"]
    else:
        names.append("glmstead-ray-worker")
    if member == cluster.gateway.name:
        names += ["glmstead-gateway", "glmstead-gate"]
    return names
