"""Several hosts: each byte leaves the hub once, the rest is copied, and a dead host holds up none."""

import json
import subprocess
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from glmstead.checkpoint.listing import read_json, write_json
from glmstead.checkpoint.lock import locked
from glmstead.checkpoint.peers import Peers
from tests.checkpoint.conftest import Host, contents, entry
from tests.checkpoint.hub_server import Hub
from tests.checkpoint.test_kill import kill_when, stocked

COMMIT = "a" * 40
FILES = contents(9, 300_000)
TOTAL = sum(len(content) for content in FILES.values())
Hosts = Callable[[int], list[Host]]
Lend = Callable[..., str]


def has_shards(host: Host) -> bool:
    return any(host.folder.root.glob("*.safetensors"))


def run_all(hosts: list[Host], requests: list[dict[str, object]]) -> list[int]:
    processes = [host.start(request) for host, request in zip(hosts, requests, strict=True)]
    ends = []
    for process in processes:
        output, errors = process.communicate(timeout=120)
        ends.append(process.returncode)
        print(output, errors)
    return ends


@pytest.mark.parametrize("fetch_on", ["all", "head"])
def test_three_hosts_take_each_file_from_the_hub_once(
    fetch_on: str, hosts: Hosts, lend: Lend
) -> None:
    hub = Hub({COMMIT: FILES})
    hub.bytes_per_s = 400_000
    three = hosts(3)
    ports = [lend(host) for host in three]
    parts = [[0, 3], [1, 3], [2, 3]] if fetch_on == "all" else [[0, 1], None, None]
    requests = [
        host.request(hub, COMMIT, part=part, peers=[p for p in ports if p != port])
        for host, port, part in zip(three, ports, parts, strict=True)
    ]
    ends = run_all(three, requests)

    assert ends == [0, 0, 0]
    assert all(host.holds(FILES) for host in three)
    assert len({host.folder.manifest.read_text() for host in three}) == 1
    assert hub.total <= TOTAL * 1.25  # two hosts may both take over the same last file


def test_who_has_it_serves_the_others_and_the_hub_is_not_asked(hosts: Hosts, lend: Lend) -> None:
    first, second, third = hosts(3)
    stocked(first, FILES)
    ports = [lend(host) for host in (first, second, third)]
    requests = [
        host.request(None, COMMIT, origin="folder", part=None, peers=[p for p in ports if p != own])
        for host, own in ((second, ports[1]), (third, ports[2]))
    ]

    assert run_all([second, third], requests) == [0, 0]
    assert second.holds(FILES)
    assert third.holds(FILES)


def test_a_source_that_one_host_has_reaches_the_others(
    hosts: Hosts, lend: Lend, tmp_path: Path
) -> None:
    """The two others find no such folder; what it consists of they hear when it was read."""
    first, second, third = hosts(3)
    source = tmp_path / "source"
    for name, content in FILES.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes(content)
    ports = [lend(host) for host in (first, second, third)]
    requests = [
        host.request(
            None,
            COMMIT,
            origin="folder",
            local=str(source if host is first else tmp_path / "none"),
            peers=[p for p in ports if p != own],
        )
        for host, own in zip((first, second, third), ports, strict=True)
    ]

    assert run_all([first, second, third], requests) == [0, 0, 0]
    assert all(host.holds(FILES) for host in (first, second, third))


def test_who_knows_the_hub_s_listing_only_copies_from_who_is_done(hosts: Hosts, lend: Lend) -> None:
    """The hub gives small files by git's id; a manifest has their sha256 too."""
    first, second = hosts(2)
    assert first.place(first.request(Hub({COMMIT: FILES}), COMMIT)).returncode == 0
    heard = read_json(first.folder.listing)
    assert any(not one["sha256"] for one in heard["files"].values())
    write_json(second.folder.listing, heard)
    run = second.place(second.request(None, COMMIT, part=None, peers=[lend(first)]))

    assert run.returncode == 0, run.stderr
    assert second.holds(FILES)


def test_hosts_wait_for_the_one_that_reads_the_source(host: Host, lend: Lend) -> None:
    """However long it takes, but no longer than it runs."""
    port = lend(host)
    peers = Peers([port], "folder", stall_s=5)
    peers.began -= 3600
    with locked(host.folder):
        write_json(host.folder.busy, {"names": [], "telling": "folder"})
        assert comes(peers.telling)
    assert comes(lambda: not peers.telling())
    peers.stop()


def comes(true: Callable[[], bool]) -> bool:
    """Whether something becomes true in half a minute."""
    deadline = time.monotonic() + 30
    while not true() and time.monotonic() < deadline:
        time.sleep(0.05)
    return true()


def test_a_source_that_dies_is_replaced(hosts: Hosts, lend: Lend, lenders: list[object]) -> None:
    first, second, third = hosts(3)
    for host in (first, second):
        stocked(host, FILES)
    ports = [lend(first), lend(second)]
    request = third.request(None, COMMIT, origin="folder", part=None, peers=ports, streams=1)
    process = third.start(request)
    lender = lenders[0]
    assert isinstance(lender, subprocess.Popen)
    kill_when(lender, lambda: has_shards(third) or process.poll() is not None)
    output, errors = process.communicate(timeout=60)

    assert process.returncode == 0, output + errors
    assert third.holds(FILES)


def test_a_fetching_host_that_dies_is_replaced_by_the_hub(hosts: Hosts, lend: Lend) -> None:
    hub = Hub({COMMIT: FILES})
    hub.bytes_per_s = 200_000
    head, worker = hosts(2)
    ports = [lend(head), lend(worker)]
    fetching = head.start(head.request(hub, COMMIT, part=[0, 1], peers=[ports[1]]))
    waiting = worker.start(worker.request(hub, COMMIT, part=None, peers=[ports[0]]))
    kill_when(fetching, lambda: has_shards(worker) or waiting.poll() is not None)
    hub.bytes_per_s = None
    output, errors = waiting.communicate(timeout=60)

    assert waiting.returncode == 0, output + errors
    assert worker.holds(FILES)


def test_a_host_with_no_source_says_so(host: Host) -> None:
    request = host.request(None, COMMIT, origin="folder", part=None, peers=["127.0.0.1:9"])
    run = host.place(request)

    assert run.returncode == 1
    assert run.stderr == (
        "folder: on none of the hosts; fix: put it on one of them, where model_directory says\n"
    )


class Liar(ThreadingHTTPServer):
    """A peer that says it has everything, and gives zeros; or, ``mute``, talks nonsense."""

    def __init__(self, origin: str, files: dict[str, bytes], mute: bool = False) -> None:
        self.keys = {entry(name, content).key: len(content) for name, content in files.items()}
        state = {"origin": origin, "done": list(self.keys), "busy": [], "working": False}
        state |= {"telling": ""}
        self.answers = {"/state": [1] if mute else state, "/listing": {"files": [1]}}
        super().__init__(("127.0.0.1", 0), LiarsHandler)
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.server_port}"


class LiarsHandler(BaseHTTPRequestHandler):
    server: Liar

    def do_GET(self) -> None:
        known = self.server.answers.get(self.path)
        size = self.server.keys.get(self.path.rpartition("/")[2], 0)
        body = json.dumps(known).encode() if known else bytes(size)
        self.send_response(200 if known else 206)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def test_a_peer_that_lies_is_left_for_the_hub(host: Host) -> None:
    hub = Hub({COMMIT: FILES})
    liar = Liar(f"owner/model@{COMMIT}", FILES)
    run = host.place(host.request(hub, COMMIT, part=None, peers=[liar.address]))

    assert run.returncode == 0, run.stdout + run.stderr
    assert f"{liar.address}: wrong content; again" in run.stdout
    assert host.holds(FILES)


def test_a_peer_that_talks_nonsense_is_no_peer(host: Host) -> None:
    hub = Hub({COMMIT: FILES})
    run = host.place(host.request(hub, COMMIT, part=None, peers=[Liar("", {}, mute=True).address]))

    assert (run.returncode, run.stderr) == (0, "")
    assert host.holds(FILES)


def test_a_part_that_is_too_long_is_copied_anew(hosts: Hosts, lend: Lend) -> None:
    source, target = hosts(2)
    stocked(source, FILES)
    name = next(name for name in FILES if name.endswith(".safetensors"))
    part = target.folder.part(entry(name, FILES[name]))
    part.parent.mkdir(parents=True)
    part.write_bytes(b"x" * (len(FILES[name]) + 1))
    run = target.place(
        target.request(None, COMMIT, origin="folder", part=None, peers=[lend(source)])
    )

    assert run.returncode == 0, run.stderr
    assert "again" not in run.stdout
    assert target.holds(FILES)


def test_a_stranger_gets_nothing(host: Host, lend: Lend) -> None:
    stocked(host, FILES)
    port = lend(host, allow="10.9.9.9")
    answer = subprocess.run(
        ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", f"http://{port}/listing"],
        capture_output=True,
        text=True,
        check=True,
    )

    assert answer.stdout == "403"


def test_a_corrected_config_is_lent_as_it_was_delivered(hosts: Hosts, lend: Lend) -> None:
    first, second = hosts(2)
    quant = b'{"quantization": {"quant_algo": "NVFP4", "kv_cache_quant_algo": "FP8"}}'
    stale = {
        **FILES,
        "config.json": b'{"n_routed_experts": 168, "num_experts": 256}',
        "hf_quant_config.json": quant,
    }
    stocked(first, stale)
    again = first.request(None, COMMIT, origin="folder", correct=True)
    assert first.place(again).returncode == 0
    run = second.place(
        second.request(None, COMMIT, origin="folder", part=None, peers=[lend(first)], correct=True)
    )

    assert run.returncode == 0, run.stderr
    assert "dropped num_experts: 256 contradicts n_routed_experts 168" in run.stdout
    assert "dropped quantization.kv_cache_quant_algo: FP8 promises KV scales" in run.stdout
    assert read_json(second.folder.root / "config.json") == {"n_routed_experts": 168}
    assert first.folder.manifest.read_text() == second.folder.manifest.read_text()
