"""The model on three hosts: fetched once from a hub on this machine, spread, mended, killed.

The tests are one story and run in order.
"""

import io
import json
import os
import random
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from glmstead import ROOT
from tests.checkpoint.hub_server import Hub
from tests.checkpoint.test_kill import kill_when

pytestmark = pytest.mark.lab

NAME, NETWORK = "mod", "10.77.45"
HOSTS = ("mod1", "mod2", "mod3")
COMMIT, LATER = "a" * 40, "b" * 40
PLAN = Path(__file__).with_name("only_model.py")
MODEL = "/var/lib/glmstead/models/nano-sharded"
SHARDS, SIZE = 12, 8_000_000
PLACED = "Model | nano-sharded whole, verified and fit to be served"


def checkpoint(seed: int) -> dict[str, bytes]:
    """The lab's checkpoint, its weights replaced by shards of noise."""
    nano = ROOT / "files" / "models" / "glm-nano"
    files = {p.name: p.read_bytes() for p in nano.iterdir() if p.suffix in (".json", ".jinja")}
    names = [f"model-{n:05}-of-{SHARDS:05}.safetensors" for n in range(1, SHARDS + 1)]
    index = {"weight_map": {f"layer.{n}": name for n, name in enumerate(names)}}
    files["model.safetensors.index.json"] = json.dumps(index).encode()
    chance = random.Random(seed)
    return {**files, **{name: chance.randbytes(SIZE) for name in names}}


@dataclass
class Fleet:
    """Three hosts and what is set for them."""

    hub: Hub
    inventory: Path
    data: dict[str, Any] = field(default_factory=dict)
    env: dict[str, str] = field(default_factory=dict)

    def run(self, *words: str, stdin: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
        lab = {"GLMSTEAD_LAB_NAME": NAME, "GLMSTEAD_LAB_SUBNET": f"{NETWORK}.0/24"}
        return subprocess.run(
            [str(Path(sys.executable).parent / words[0]), *words[1:]],
            env={**os.environ, **lab, "PYTHONPATH": str(ROOT), **self.env},
            cwd=ROOT,
            input=stdin,
            capture_output=True,
            timeout=600,
            check=False,
        )

    def ssh(self, host: str, command: str, stdin: bytes = b"") -> str:
        done = self.run("glmstead", "lab", "ssh", host, command, stdin=stdin)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.decode().strip()

    def deploy(self) -> dict[str, list[str]]:
        """Deploy; ``{operation: hosts it changed}`` of those that changed any."""
        self._write_inventory()
        done = self._pyinfra("--json")
        assert done.returncode == 0, (done.stdout[-3000:] + done.stderr[-3000:]).decode()
        operations = json.loads(done.stdout)["results"]["operations"]
        return {one["name"]: sorted(one["success"]) for one in operations if one["success"]}

    def start(self) -> "subprocess.Popen[bytes]":
        self._write_inventory()
        words = [sys.executable, "-m", "pyinfra", "-y", str(self.inventory), str(PLAN)]
        env = {**os.environ, "PYTHONPATH": str(ROOT), **self.env}
        quiet = subprocess.DEVNULL
        return subprocess.Popen(words, cwd=ROOT, env=env, stdout=quiet, stderr=quiet)

    def manifests(self) -> set[str]:
        return {self.ssh(host, f"sha256sum <{MODEL}/.glmstead/manifest.json") for host in HOSTS}

    def whole(self) -> bool:
        """Whether sha256sum, which is not ours, finds every file right on every host."""
        check = "sha256sum --check --quiet /etc/glmstead/model.sha256 && echo whole"
        return {self.ssh(host, check) for host in HOSTS} == {"whole"}

    def _pyinfra(self, *options: str) -> "subprocess.CompletedProcess[bytes]":
        return self.run("pyinfra", "-y", *options, str(self.inventory), str(PLAN))

    def _write_inventory(self) -> None:
        lab = Path(f"/var/lib/glmstead-{NAME}")
        shared = {
            "ssh_user": "root",
            "ssh_key": str(lab / "id_ed25519"),
            "ssh_known_hosts_file": str(lab / "known_hosts"),
            "ssh_strict_host_key_checking": "yes",
            "cluster_interface": "host0",
            "system_disk_free_gb": 1.0,
            "vllm_tensor_parallel_size": 1,
            "vllm_pipeline_parallel_size": 3,
            "model_name": "nano-sharded",
            "model_source": "hub",
            "model_repo": "owner/nano",
            "model_revision": COMMIT,
            "model_endpoint": self.hub.url,
            "model_xet": False,
            "model_fetch_workers": 3,
            **self.data,
        }
        addresses = {host: f"{NETWORK}.{11 + n}" for n, host in enumerate(HOSTS)}
        members = [
            (host, {**shared, "cluster_address": address, "ssh_hostname": address})
            for host, address in addresses.items()
        ]
        groups = {"lab": members, "head": HOSTS[:1], "worker": HOSTS[1:], "gateway": HOSTS[:1]}
        lines = [f"{name} = {list(value)!r}\n" for name, value in groups.items()]
        self.inventory.write_text("".join(lines))


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory, hub_python: Path) -> Iterator[Fleet]:
    inventory = tmp_path_factory.mktemp("model") / "fleet.py"
    first = Fleet(Hub({}), inventory)
    up = first.run("glmstead", "lab", "up", "--hosts", "3", "--no-wheels")
    assert up.returncode == 0, up.stderr
    hub = Hub({COMMIT: checkpoint(1), LATER: checkpoint(2)}, f"{NETWORK}.1")
    fleet = Fleet(hub, inventory)
    packages = next((hub_python.parents[1] / "lib").glob("python3*/site-packages"))
    archive = subprocess.run(
        ["tar", "-C", str(packages), "-c", "."], capture_output=True, check=True
    )
    place = "/opt/glmstead/engine/lib/python3.11/site-packages"
    for host in HOSTS:
        fleet.ssh(host, "python3 -m venv --without-pip /opt/glmstead/engine")
        fleet.ssh(host, f"tar -x -C {place}", stdin=archive.stdout)
        fleet.ssh(host, f"rm -rf {MODEL} /etc/glmstead/model.sha256")
    yield fleet
    fleet.run("glmstead", "lab", "down")


def size_of(files: dict[str, bytes]) -> int:
    return sum(len(content) for content in files.values())


def test_three_hosts_hold_the_same_model_and_the_hub_gave_it_once(fleet: Fleet) -> None:
    fleet.env = {"GLMSTEAD_HUB_TOKEN": "hf_verysecret"}
    fleet.hub.bytes_per_s = 8_000_000  # a connection
    changed = fleet.deploy()

    assert changed[PLACED] == [*HOSTS]
    assert fleet.whole()
    assert len(fleet.manifests()) == 1
    files = fleet.hub.revisions[COMMIT]
    small = sum(len(content) for content in files.values() if len(content) != SIZE)
    assert fleet.hub.total <= size_of(files) + 2 * (SIZE + small)  # the last ones, by two at once
    assert fleet.hub.tokens == {"hf_verysecret"}
    assert fleet.ssh("mod2", "stat -c '%a %U' /etc/glmstead/hub-token") == "600 root"


def test_a_second_run_changes_nothing(fleet: Fleet) -> None:
    assert fleet.deploy() == {}


def test_a_damaged_shard_is_mended_from_a_peer(fleet: Fleet) -> None:
    fleet.hub.sent.clear()
    fleet.ssh(
        "mod2", f"printf damage | dd of={MODEL}/model-00003-of-00012.safetensors conv=notrunc"
    )
    changed = fleet.deploy()

    assert changed == {PLACED: ["mod2"]}
    assert fleet.whole()
    assert fleet.hub.total == 0


def test_a_host_that_lost_it_all_gets_it_from_its_peers(fleet: Fleet) -> None:
    fleet.ssh("mod3", f"rm -rf {MODEL}")
    changed = fleet.deploy()

    assert changed == {PLACED: ["mod3"]}
    assert fleet.whole()
    assert fleet.hub.total <= SIZE // 10  # files that the listing alone costs nothing of


@pytest.mark.parametrize("seed", range(3))
def test_a_deploy_killed_everywhere_is_finished_by_the_next(fleet: Fleet, seed: int) -> None:
    for host in HOSTS:
        fleet.ssh(host, f"rm -rf {MODEL}")
    fleet.hub.sent.clear()
    fleet.hub.bytes_per_s = 3_000_000
    point = random.Random(seed).uniform(0.05, 0.8) * size_of(fleet.hub.revisions[COMMIT])
    killed = kill_when(fleet.start(), lambda: fleet.hub.total >= point)
    for host in HOSTS:
        fleet.ssh(host, "for p in $(pgrep -f '[g]lmstead.checkpoint'); do kill -9 $p; done; true")
    fleet.hub.bytes_per_s = None
    fleet.deploy()
    parts_in_flight = 3 * len(HOSTS)

    assert killed
    assert fleet.whole()
    assert len(fleet.manifests()) == 1
    again = fleet.hub.total - size_of(fleet.hub.revisions[COMMIT])
    assert again <= (parts_in_flight + 2) * SIZE
    assert fleet.deploy() == {}


def test_another_revision_replaces_it_on_every_host(fleet: Fleet) -> None:
    fleet.data = {"model_revision": LATER, "model_fetch_on": "head"}
    fleet.hub.sent.clear()
    changed = fleet.deploy()

    assert changed[PLACED] == [*HOSTS]
    assert fleet.whole()
    assert len(fleet.manifests()) == 1
    assert fleet.hub.total == size_of(fleet.hub.revisions[LATER]) - sum(
        len(content)
        for name, content in fleet.hub.revisions[LATER].items()
        if fleet.hub.revisions[COMMIT][name] == content
    )


def tar_of(files: dict[str, bytes], path: Path) -> Path:
    """A tar with one folder around all, as `tar -c nano` makes it."""
    with tarfile.open(path, "w") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(f"nano/{name}")
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return path


def test_a_tar_on_one_host_is_spread_to_the_others(fleet: Fleet, tmp_path: Path) -> None:
    archive = tar_of(fleet.hub.revisions[LATER], tmp_path / "nano.tar")
    fleet.ssh("mod2", "cat >/srv/nano.tar", stdin=archive.read_bytes())
    fleet.data = {"model_source": "host", "model_directory": "/srv/nano.tar"}
    fleet.hub.sent.clear()
    changed = fleet.deploy()

    assert changed[PLACED] == [*HOSTS]
    assert fleet.whole()
    assert len(fleet.manifests()) == 1
    assert fleet.hub.total == 0
    assert fleet.deploy() == {}


def test_a_tar_of_the_controller_is_sent_to_every_host(fleet: Fleet) -> None:
    with tempfile.TemporaryDirectory(dir=ROOT, prefix=".nano-") as folder:
        archive = tar_of(fleet.hub.revisions[COMMIT], Path(folder) / "nano.tar")
        directory = str(archive.relative_to(ROOT))
        fleet.data = {"model_source": "controller", "model_directory": directory}
        changed = fleet.deploy()
        again = fleet.deploy()

    assert changed[PLACED] == [*HOSTS]
    assert again == {}
    assert fleet.whole()
    assert len(fleet.manifests()) == 1
    assert fleet.hub.total == 0
