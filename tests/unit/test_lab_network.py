"""What of the lab's network can be decided without one."""

from ipaddress import IPv4Network
from pathlib import Path

from glmstead.lab.config import LabConfig
from glmstead.lab.conflicts import (
    Record,
    default_mtu,
    foreign_bridge,
    forward_dropped,
    link_alias,
    subnet_conflict,
)

LAB = LabConfig()
ROUTES: list[Record] = [
    {"dst": "default", "gateway": "192.0.2.1", "dev": "eth0", "flags": []},
    {"dst": "192.0.2.0/24", "dev": "eth0", "protocol": "kernel", "prefsrc": "192.0.2.2"},
]
LINKS: list[Record] = [{"ifname": "lo", "mtu": 65536}, {"ifname": "eth0", "mtu": 1400}]


def test_a_subnet_of_its_own_is_no_conflict() -> None:
    assert subnet_conflict(ROUTES, LAB) is None


def test_the_default_route_and_our_own_bridge_are_no_conflict() -> None:
    ours = {"dst": "10.77.42.0/24", "dev": "glmlab0"}

    assert subnet_conflict([*ROUTES, ours], LAB) is None


def test_a_wider_route_of_another_link_is_a_conflict() -> None:
    vpn = {"dst": "10.0.0.0/8", "dev": "tun0"}

    assert subnet_conflict([*ROUTES, vpn], LAB) == "10.0.0.0/8 on tun0"


def test_a_single_address_inside_the_subnet_is_a_conflict() -> None:
    peer = {"dst": "10.77.42.200", "dev": "wg0"}

    assert subnet_conflict([*ROUTES, peer], LAB) == "10.77.42.200 on wg0"


def test_a_blackhole_without_a_link_is_named_by_its_type() -> None:
    blackhole = {"type": "blackhole", "dst": "10.77.0.0/16"}

    assert subnet_conflict([blackhole], LAB) == "10.77.0.0/16 on blackhole"


def test_another_labs_network_is_a_conflict_only_if_it_overlaps() -> None:
    route = {"dst": "10.77.42.0/24", "dev": "glmlab0"}
    other = LabConfig(name="two", subnet=IPv4Network("10.77.43.0/24"))

    assert subnet_conflict([route], other) is None
    assert subnet_conflict([route], LabConfig(name="two")) == "10.77.42.0/24 on glmlab0"


def test_a_bridge_of_our_name_without_our_mark_is_foreign() -> None:
    assert foreign_bridge([{"ifname": "glmlab0"}], LAB)
    assert not foreign_bridge([{"ifname": "glmlab0", "ifalias": link_alias(LAB)}], LAB)
    assert not foreign_bridge(LINKS, LAB)


def test_a_lab_kept_elsewhere_does_not_own_our_bridge() -> None:
    theirs = link_alias(LabConfig(state=Path("/srv/other")))

    assert foreign_bridge([{"ifname": "glmlab0", "ifalias": theirs}], LAB)


def test_the_mtu_is_that_of_the_default_route() -> None:
    assert default_mtu(ROUTES, LINKS) == 1400
    assert default_mtu([], LINKS) == 1500


def test_a_dropping_firewall_is_noticed_until_a_rule_names_the_bridge() -> None:
    docker = "-P FORWARD DROP\n-A FORWARD -j DOCKER-USER\n"

    assert forward_dropped(docker, LAB)
    assert not forward_dropped(docker + "-A FORWARD -i glmlab0 -j ACCEPT\n", LAB)
    assert not forward_dropped("-P FORWARD ACCEPT\n", LAB)
