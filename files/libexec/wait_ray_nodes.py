"""Waits, bounded, until Ray holds exactly the declared hosts and GPUs; run before vLLM starts.

An engine on half a cluster loads for minutes and then hangs (eugr/spark-vllm-docker#257).
In a unit, its RuntimeDirectory holds the file ``waiting`` meanwhile, which says what is missing.
Usage: wait_ray_nodes.py ADDRESS:PORT GPUS_PER_HOST TIMEOUT_S HOST_ADDRESS [HOST_ADDRESS ...]
"""

import os
import sys
import time
from pathlib import Path


def alive_nodes(address: str) -> "dict[str, float]":
    """GPUs of each alive node by its address."""
    from ray._raylet import GcsClient

    nodes = GcsClient(address=address).get_all_node_info(timeout=5).values()
    return {
        node.node_manager_address: node.resources_total.get("GPU", 0.0)
        for node in nodes
        if node.state == 0
    }


def difference(found: "dict[str, float]", wanted: "list[str]", gpus: int) -> str:
    """One line saying what is missing or too much; empty when the cluster is exactly as declared."""
    lines = [f"{host} has not joined" for host in wanted if host not in found]
    lines += [f"{host} is not declared" for host in found if host not in wanted]
    lines += [
        f"{host} gives {count:g} GPUs instead of {gpus}"
        for host, count in found.items()
        if host in wanted and count != gpus
    ]
    return "; ".join(lines)


def tell(wrong: str) -> None:
    """Leave what is missing for attempts.py and status; nothing when the cluster is whole."""
    folder = os.environ.get("RUNTIME_DIRECTORY")
    if folder and wrong:
        Path(folder, "waiting").write_text(wrong + "\n")
    elif folder:
        Path(folder, "waiting").unlink(missing_ok=True)


def main(address: str, gpus: str, timeout_s: str, *hosts: str) -> int:
    deadline, last = time.monotonic() + float(timeout_s), ""
    tell("Ray has not been asked yet")
    while True:
        try:
            wrong = difference(alive_nodes(address), list(hosts), int(gpus))
        except Exception as error:  # the head may still be starting
            wrong = f"{type(error).__name__}: {error}".splitlines()[0]
        if not wrong:
            tell("")
            print(f"Ray holds {len(hosts)} hosts with {gpus} GPUs each", flush=True)
            return 0
        if wrong != last:
            print(f"waiting for Ray: {wrong}", flush=True)
            tell(wrong)
            last = wrong
        if time.monotonic() > deadline:
            print(f"gave up after {timeout_s} s: {wrong}", file=sys.stderr)
            return 1
        time.sleep(0.5)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
