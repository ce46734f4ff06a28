"""Who is who: what an inventory's groups and addresses are refused for."""

import pytest

from tests.unit.conftest import Data, Refusals

HOSTS: dict[str, tuple[dict[str, list[str]], str]] = {
    "no head": (
        {"head": []},
        "inventory: head: []: 0 hosts in group head; fix: put exactly one host in head",
    ),
    "two gateways": (
        {"gateway": ["@fake/h1", "@fake/h2"]},
        'inventory: gateway: ["@fake/h1", "@fake/h2"]: 2 hosts in group gateway; '
        "fix: put exactly one host in gateway",
    ),
    "a gateway elsewhere": (
        {"gateway": ["@fake/h2"]},
        'inventory: gateway: ["@fake/h2"]: not the head, and vLLM answers on the head\'s '
        "loopback only; fix: put @fake/h1 in gateway",
    ),
}

ADDRESSES = {
    "loopback": ("127.0.0.1", "not an address that peers can reach"),
    "unspecified": ("0.0.0.0", "not an address that peers can reach"),
    "no IPv4": ("fd00::1", "not an IPv4 address"),
    "a name": ("node-1", "not an IPv4 address"),
    "public": ("8.8.8.8", "a public address, where Ray and NCCL would be open to the world"),
    "twice": ("10.77.42.1", "the same address as @fake/h1"),
}


@pytest.mark.parametrize(("groups", "line"), HOSTS.values(), ids=HOSTS)
def test_roles_are_checked(refusals: Refusals, groups: Data, line: str) -> None:
    assert line in refusals(**groups)


def test_a_host_is_head_or_worker(refusals: Refusals) -> None:
    lines = refusals(worker=["@fake/h1", "@fake/h2"])

    assert lines == [
        '@fake/h1: worker: ["@fake/h1"]: head and worker at once; fix: take it out of group worker'
    ]


def test_a_host_without_a_role_is_refused(refusals: Refusals) -> None:
    lines = refusals(worker=[])

    assert lines == [
        '@fake/h2: groups: ["fleet", "lab"]: in no role; fix: put it in head or worker'
    ]


@pytest.mark.parametrize(("address", "wrong"), ADDRESSES.values(), ids=ADDRESSES)
def test_an_address_must_be_a_hosts_own(refusals: Refusals, address: str, wrong: str) -> None:
    assert refusals(second={"cluster_address": address}) == [
        f'@fake/h2: cluster_address: "{address}": {wrong}; '
        "fix: give the host's own private IPv4 address"
    ]


def test_a_public_address_can_be_allowed(refusals: Refusals) -> None:
    public = {"cluster_address": "8.8.8.8", "cluster_allow_public": True}
    networks = {"cluster_allow_from": ["8.8.8.8/32", "10.0.0.0/8"]}

    assert refusals(data=networks, second=public) == []
