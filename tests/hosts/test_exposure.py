"""What a host shows to others: ports, keys, logs."""

import json
from ipaddress import ip_network

from testinfra.host import Host

from glmstead import places
from glmstead.settings import Cluster, Settings
from tests.hosts.test_services import shown


def listening(machine: Host) -> list[tuple[str, int, str]]:
    """Address, port and unit of every listening TCP socket of our units."""
    found = []
    for line in machine.check_output("ss -Hltn --cgroup").splitlines():
        address, _, port = line.split()[3].rpartition(":")
        unit = line.rpartition("/")[2].strip().removesuffix(".service")
        if unit.startswith("glmstead-"):
            found.append((address.strip("[]").removeprefix("::ffff:"), int(port), unit))
    return found


def test_the_server_listens_on_loopback_only(
    machine: Host, settings: Settings, member: str, cluster: Cluster
) -> None:
    found = [address for address, port, _ in listening(machine) if port == settings.vllm.port]

    assert found == (["127.0.0.1"] if member == cluster.head.name else [])


def test_open_ports_are_declared_or_private(machine: Host, settings: Settings) -> None:
    """Ray's gRPC binds to every address; its unit then admits declared networks only."""
    cluster, gateway = settings.cluster, settings.gateway
    for address, port, unit in listening(machine):
        if unit == places.GATEWAY and address != "127.0.0.1":  # its own figures are on loopback
            assert (address, port) == (gateway.bind, gateway.port)
        elif address not in ("127.0.0.1", cluster.address):
            admitted = shown(machine, unit, "IPAddressAllow").split()
            denied = shown(machine, unit, "IPAddressDeny").split()
            networks = {str(ip_network(one)) for one in admitted}
            assert set(denied) == {"0.0.0.0/0", "::/0"}
            assert networks == {"127.0.0.0/8", *cluster.allow_from}, f"{unit} {port}"


def test_figures_are_read_from_declared_networks_only(
    machine: Host, settings: Settings, units: list[str]
) -> None:
    metrics, address = settings.metrics, settings.cluster.address
    ports = {places.NODE_EXPORTER: metrics.node_port, places.PROMETHEUS: metrics.port}
    found = {unit: (host, port) for host, port, unit in listening(machine) if unit in ports}

    assert found == {unit: (address, port) for unit, port in ports.items() if unit in units}
    for unit in found:
        networks = {str(ip_network(one)) for one in shown(machine, unit, "IPAddressAllow").split()}
        assert networks == {"127.0.0.0/8", *settings.cluster.allow_from}, unit
        assert "0.0.0.0/0" in shown(machine, unit, "IPAddressDeny")


def test_secrets_are_for_their_reader_alone(
    machine: Host, settings: Settings, member: str, cluster: Cluster
) -> None:
    token = machine.file(places.RAY_TOKEN)
    assert (token.user, token.mode) == (settings.system.user, 0o600)
    if member == cluster.gateway.name:
        key = machine.file(places.GATEWAY_ENV)
        assert (key.user, key.mode) == ("root", 0o600)


def test_no_secret_is_in_an_argument_or_the_journal(
    machine: Host, member: str, cluster: Cluster
) -> None:
    paths = [places.RAY_TOKEN]
    if member == cluster.gateway.name:
        paths.append(places.GATEWAY_ENV)
    for path in paths:
        secret = machine.file(path).content_string.strip().rpartition("=")[2]
        assert len(secret) >= 40
        said = machine.check_output("journalctl --no-pager -o cat; cat /proc/[0-9]*/cmdline")
        assert secret not in said


def test_configuration_is_written_by_root_alone(machine: Host) -> None:
    writable = machine.check_output(
        "find /etc/glmstead /opt/glmstead -not -type l -not -user root "
        "-not -name ray-token -print -quit; "
        "find /etc/glmstead /opt/glmstead -not -type l -perm /022 -print -quit"
    )
    assert writable == ""


def test_the_gateway_says_503_only_while_the_engine_is_gone(
    machine: Host, settings: Settings, member: str, cluster: Cluster
) -> None:
    if member != cluster.gateway.name:
        return
    url = f"http://127.0.0.1:{settings.gateway.port}/health?model={settings.vllm.served_model_name}"
    ask = f'. {places.GATEWAY_ENV}; curl -sS -H "Authorization: Bearer $LITELLM_MASTER_KEY" {url}'
    assert json.loads(machine.check_output(ask))["healthy_count"] == 1
