"""Network, disk, key and clock: what goes wrong around the processes."""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

from tests.lab.faults.cluster import Cluster
from tests.lab.faults.table import Row

pytestmark = [pytest.mark.lab, pytest.mark.faults]
BOUND_S = 420
Step = Callable[[float], AbstractContextManager[None]]


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


@pytest.fixture
def step(request: pytest.FixtureRequest) -> Step:
    """The machine's clock, which is every host's, steps ahead, and back at the block's end."""
    if not request.config.getoption("--step-clock"):
        pytest.skip("it steps the clock of this machine for minutes: --step-clock")

    @contextmanager
    def ahead(seconds: float) -> Iterator[None]:
        began, at = time.time(), time.monotonic()
        time.clock_settime(time.CLOCK_REALTIME, began + seconds)
        try:
            yield
        finally:
            time.clock_settime(time.CLOCK_REALTIME, began + time.monotonic() - at)

    return ahead


def test_a_clock_that_steps_an_hour_and_back_stops_nothing(
    cluster: Cluster, rows: list[Row], step: Step
) -> None:
    """As when a host first hears of NTP."""

    def ahead() -> None:
        with step(3600):
            for _ in range(30):
                assert cluster.answers()
                time.sleep(1)

    row = cluster.breaks("clock 1 h ahead for 30 s, and back", ahead, BOUND_S)

    rows.append(row)
    assert row.restarts == {}


def test_what_was_started_an_hour_ahead_is_not_taken_for_hung_or_stale(
    cluster: Cluster, rows: list[Row], step: Step
) -> None:
    def restart() -> None:
        with step(3600):
            began = time.time()
            cluster.signal("head", "KILL", "^VLLM::EngineCore")
            cluster.until_restarted("vllm", began, BOUND_S)
            cluster.whole_again(BOUND_S)

    row = cluster.breaks("kill -9 of the EngineCore, clock 1 h ahead, and back", restart, BOUND_S)

    rows.append(row)
    assert row.restarts == {"ray-head": 1, "ray-worker": 1, "vllm": 1}
    assert cluster.lab.deploy() == {}
