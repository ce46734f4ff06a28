"""Network, disk, key and clock: what goes wrong around the processes."""

import time

import pytest

from tests.lab.faults.cluster import UNITS, Cluster
from tests.lab.faults.table import Row

pytestmark = [pytest.mark.lab, pytest.mark.faults]
BOUND_S = 420


@pytest.mark.parametrize("seconds", [5, 180], ids=["5-s", "3-min"])
@pytest.mark.parametrize("ways", ["both ways", "towards the worker"])
def test_a_cut_network_heals(cluster: Cluster, rows: list[Row], seconds: int, ways: str) -> None:
    def cut() -> None:
        worker = cluster.address(cluster.worker)
        rules = [f"add rule inet cut out ip daddr {worker} drop"]
        if ways == "both ways":
            rules.append(f"add rule inet cut in ip saddr {worker} drop")
        chains = "".join(
            f"add chain inet cut {name} {{ type filter hook {hook} priority -10; }}; "
            for name, hook in (("in", "input"), ("out", "output"))
        )
        table = f"add table inet cut; {chains}{'; '.join(rules)}"
        cluster.ssh(cluster.head, f"/usr/sbin/nft '{table}'")
        time.sleep(seconds)
        cluster.ssh(cluster.head, "/usr/sbin/nft delete table inet cut")

    install = "apt-get -qq -y -o DPkg::Lock::Timeout=60 install nftables >/dev/null"
    cluster.ssh(cluster.head, f"test -x /usr/sbin/nft || {{ apt-get -qq update && {install}; }}")
    row = cluster.breaks(f"network cut {ways} for {seconds} s", cut, BOUND_S + seconds)

    rows.append(row)
    assert row.longest_error_s < 120
    if seconds == 5:
        assert row.restarts == {}


@pytest.mark.parametrize(
    ("what", "folder"),
    [("model", "/var/lib/glmstead/models"), ("logs", "/var/lib/glmstead/ray")],
)
def test_a_full_disk_is_survived(cluster: Cluster, rows: list[Row], what: str, folder: str) -> None:
    """A file system of its own under the folder is filled, and freed after half a minute."""

    def fill() -> None:
        cluster.ssh(cluster.head, f"dd if=/dev/zero of={folder}/filler bs=1M 2>/dev/null || true")
        time.sleep(30)
        cluster.ssh(cluster.head, f"rm {folder}/filler")

    engine = "systemctl {} glmstead-vllm glmstead-ray-head"
    cluster.ssh(cluster.head, engine.format("stop"))
    cluster.ssh(
        cluster.head,
        f"cp -a {folder} /var/tmp/kept && mount -t tmpfs -o size=400m tmpfs {folder} && "
        f"chown --reference=/var/tmp/kept {folder} && cp -a /var/tmp/kept/. {folder}/",
    )
    cluster.ssh(cluster.head, engine.format("start"))
    row = cluster.breaks(f"disk of the {what} full for 30 s", fill, BOUND_S, healed_by="space")
    cluster.ssh(cluster.head, f"{engine.format('stop')} && umount {folder} && rm -r /var/tmp/kept")
    cluster.lab.deploy()

    rows.append(row)


def test_a_deleted_key_file_is_made_anew_by_a_deploy(cluster: Cluster, rows: list[Row]) -> None:
    """Only the key changes; clients have to learn the new one."""

    def delete() -> None:
        command = "rm /etc/glmstead/gateway.env; systemctl restart glmstead-gateway || true"
        cluster.ssh(cluster.head, command)

    def deploy() -> None:
        cluster.lab.deploy()
        cluster.learn_key()

    row = cluster.breaks("gateway's key deleted", delete, BOUND_S, deploy, "deploy")

    rows.append(row)
    assert "vllm" not in row.restarts


CLOCK = "/etc/glmstead-test-clock"
FAKED = f"""[Service]
Environment=LD_PRELOAD=/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1
Environment=FAKETIME_TIMESTAMP_FILE={CLOCK} FAKETIME_CACHE_DURATION=1
Environment=DONT_FAKE_MONOTONIC=1 FAKETIME_DISABLE_SHM=1
"""


@pytest.mark.parametrize("role", ["worker", "head"])
def test_a_clock_that_steps_an_hour_stops_nothing(
    cluster: Cluster, rows: list[Row], role: str
) -> None:
    """The hosts share the machine's clock: the units of one see another one, by libfaketime."""
    host = {"worker": cluster.worker, "head": cluster.head}[role]
    units = [unit for unit in (*UNITS, "glmstead-watch") if cluster.runs(host, unit)]
    folders = " ".join(f"/run/systemd/system/{unit}.service.d" for unit in units)
    install = "apt-get -qq update && apt-get -qq -y -o DPkg::Lock::Timeout=60 install libfaketime"

    def step() -> None:
        for offset in ("+3600", "+0"):
            cluster.ssh(host, f"echo {offset} >{CLOCK}")
            time.sleep(30)

    def restart(change: str) -> None:
        cluster.ssh(host, f"{change} && systemctl daemon-reload && systemctl restart {units[0]}")
        cluster.ssh(host, f"systemctl restart {' '.join(units[1:])}")

    cluster.ssh(host, f"{install} >/dev/null && echo +0 >{CLOCK}")
    try:
        restart(
            f"for folder in {folders}; do mkdir -p $folder && "
            f"printf '%s' '{FAKED}' >$folder/clock.conf; done"
        )
        row = cluster.breaks(f"clock of the {role} steps 1 h and back", step, BOUND_S)
    finally:
        restart(f"rm -r {folders} {CLOCK}")

    rows.append(row)
    assert row.restarts == {}
