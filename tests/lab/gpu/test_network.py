"""The MTU between two real hosts: set, kept over a reboot, and refused where it does not pass."""

import pytest

from tests.lab.gpu.machines import Machines, Outcome, address

pytestmark = pytest.mark.lab


def mtu(machines: Machines, number: int) -> int:
    return int(machines.ssh(number, "cat /sys/class/net/host0/mtu"))


def deploy(machines: Machines, value: int) -> Outcome:
    return machines.deploy("only_network.py", 1, 2, data={"cluster_mtu": value})


def test_the_mtu_is_set_once_and_passes_between_the_hosts(machines: Machines) -> None:
    assert deploy(machines, 1300).changed == ["MTU 1300"]
    assert (mtu(machines, 1), mtu(machines, 2)) == (1300, 1300)
    assert deploy(machines, 1300).changed == []


def test_the_mtu_comes_back_after_a_reboot(machines: Machines) -> None:
    machines.reboot(2)

    assert mtu(machines, 2) == 1300


def test_a_drifted_mtu_is_mended(machines: Machines) -> None:
    machines.ssh(1, "ip link set dev host0 mtu 1290")

    assert deploy(machines, 1300).changed == ["MTU 1300"]
    assert mtu(machines, 1) == 1300


def test_G4s_mtu_is_refused_where_the_network_between_is_smaller(machines: Machines) -> None:
    assert (
        f"packets of 8896 bytes do not reach {address(2)} (no answer in 2 s): raise the MTU of the "
        "network between the hosts (of the VPC, the switch), or lower cluster_mtu"
    ) in deploy(machines, 8896).said
