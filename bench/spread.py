"""How long until N hosts hold a model: ``bench/spread.py PYTHON [MEGABYTES] [HOSTS] [HUB] [WIRE]``.

Every host is a network namespace on a bridge, its lines shaped by tc: HUB MB/s from the hub, over a
line of its own or one that all share, and WIRE MB/s from the other hosts. PYTHON has huggingface_hub.
Prints the wall time for each value of model_fetch_on beside the slower of one download and one copy
at line rate, and one JSON object at the end. Needs root; takes down what it made.
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.checkpoint.hub_server import Hub

HERE = Path(__file__).resolve().parents[1]
BRIDGE, NETWORK, COMMIT, PORT, SHARDS = "glmbench0", "10.77.250", "a" * 40, 6390, 48


def run(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True, text=True)


def tc(text: str) -> None:
    run("tc", *text.split())


@contextmanager
def network(count: int, hub: float, wire: float, shared: bool) -> Iterator[list[str]]:
    """Hosts' namespaces; their addresses are .11, .12 and so on, the hub's is .1."""
    names = [f"glmbench{n}" for n in range(1, count + 1)]
    try:
        run("ip", "link", "add", BRIDGE, "type", "bridge")
        run("ip", "addr", "add", f"{NETWORK}.1/24", "dev", BRIDGE)
        run("ip", "link", "set", BRIDGE, "up")
        if shared:
            tc(f"qdisc add dev {BRIDGE} root tbf rate {hub * 8}mbit burst 128k limit 256k")
        for n, name in enumerate(names, start=1):
            run("ip", "netns", "add", name)
            run(*f"ip link add {name} type veth peer name eth0 netns {name}".split())
            run("ip", "link", "set", name, "master", BRIDGE, "up")
            inside = ("ip", "-n", name)
            run(*inside, "addr", "add", f"{NETWORK}.{10 + n}/24", "dev", "eth0")
            run(*inside, "link", "set", "eth0", "up")
            run(*inside, "link", "set", "lo", "up")
            own = wire if shared else hub
            tc(f"qdisc add dev {name} root handle 1: htb default 20")
            tc(f"class add dev {name} parent 1: classid 1:10 htb rate {own * 8}mbit")
            tc(f"class add dev {name} parent 1: classid 1:20 htb rate {wire * 8}mbit")
            for line in ("1:10", "1:20"):  # a deep queue would hold up questions behind data
                tc(f"qdisc add dev {name} parent {line} bfifo limit 256k")
            source = f"match ip src {NETWORK}.1/32 flowid 1:10"
            tc(f"filter add dev {name} parent 1: protocol ip prio 1 u32 {source}")
        yield names
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)
        subprocess.run(["ip", "link", "del", BRIDGE], check=False, capture_output=True)


def checkpoint(megabytes: float) -> dict[str, bytes]:
    size = int(megabytes * 1e6 / SHARDS)
    names = [f"model-{n:05}-of-{SHARDS:05}.safetensors" for n in range(1, SHARDS + 1)]
    chance = random.Random(1)
    return {"config.json": b"{}", **{name: chance.randbytes(size) for name in names}}


def place(python: str, hosts: list[str], hub: Hub, fetch_on: str, root: Path) -> float:
    """Seconds until the last host holds the model, from nothing."""
    addresses = [f"{NETWORK}.{10 + n}" for n in range(1, len(hosts) + 1)]
    program = [sys.executable, "-m", "glmstead.checkpoint"]
    lenders: list[subprocess.Popen[str]] = []
    runs: list[subprocess.Popen[str]] = []
    started = time.monotonic()
    try:
        for n, (name, address) in enumerate(zip(hosts, addresses, strict=True)):
            inside, folder = ["ip", "netns", "exec", name], root / name
            folder.mkdir(parents=True)
            lend = ["share", str(folder), "--bind", address, "--port", str(PORT)]
            words = [*inside, *program, *lend, "--allow", ",".join(addresses)]
            lenders.append(subprocess.Popen(words, cwd=HERE, text=True))
            client = {"python": python, "repo": "owner/model", "revision": COMMIT, "xet": False}
            client |= {
                "endpoint": hub.url,
                "token_file": "/nonexistent",
                "workers": 8,
                "stall_s": 60,
            }
            part = [n, len(hosts)] if fetch_on == "all" else [0, 1] if n == 0 else None
            peers = [f"{one}:{PORT}" for one in addresses if one != address]
            request = {"root": str(folder), "origin": f"owner/model@{COMMIT}", "hub": client}
            request |= {"part": part, "peers": peers}
            process = subprocess.Popen(
                [*inside, *program, "place"],
                **{
                    "cwd": HERE,
                    "stdin": subprocess.PIPE,
                    "stdout": subprocess.DEVNULL,
                    "text": True,
                },
            )
            assert process.stdin is not None
            process.stdin.write(json.dumps(request))
            process.stdin.close()
            runs.append(process)
        ends = [process.wait() for process in runs]
        seconds = time.monotonic() - started
    finally:
        for process in [*lenders, *runs]:
            process.kill()
            process.wait()
    if any(ends):
        raise SystemExit(f"a host failed: {ends}")
    return seconds


def main(python: str, megabytes: float, count: int, hub: float, wire: float) -> None:
    files = checkpoint(megabytes)
    size = sum(len(content) for content in files.values())
    limit = size / 1e6 / min(hub, wire)
    figures = {"megabytes": size / 1e6, "hosts": count, "hub_mb_s": hub, "wire_mb_s": wire}
    print(f"{megabytes:g} MB, {count} hosts, {hub:g} MB/s from the hub, {wire:g} between hosts")
    print(f"{'slower of one download and one copy':40}{limit:8.1f} s")
    for lines, shared in (("a line each", False), ("one line", True)):
        for fetch_on in ("all", "head"):
            with (
                tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_DIR")) as root,
                network(count, hub, wire, shared) as hosts,
            ):
                server = Hub({COMMIT: files}, f"{NETWORK}.1")
                seconds = place(python, hosts, server, fetch_on, Path(root))
            asked = server.total / size
            server.shutdown()
            text = f"{lines}, fetch on {fetch_on}: {seconds:.1f} s, {seconds / limit:.2f} x, "
            print(f"{text}{asked:.2f} of the model asked of the hub", flush=True)
            figures[f"{lines}, {fetch_on}"] = seconds / limit
    print(json.dumps(figures))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # takes down what it made
    given = [float(word) for word in sys.argv[2:]]
    megabytes, count, hub, wire = [*given, *(240, 3, 4, 8)[len(given) :]]
    main(sys.argv[1], megabytes, int(count), hub, wire)
