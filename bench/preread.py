"""What reading shards ahead of the loader gains: ``ENGINE_PYTHON bench/preread.py [GB] [SHARDS]``.

Reads a checkpoint of noise by the installed vLLM's own ``safetensors_weights_iterator``, out of a
cold page cache each time (``posix_fadvise``, of these files only), once for each way of
``--safetensors-load-strategy`` and once after every shard was read in parallel beforehand. Every
tensor is summed, as a load copies every one. The least of three runs counts. Prints a line for each
and one JSON object at the end. ENGINE_PYTHON has vLLM, as /opt/glmstead/engine/bin/python.
"""

import json
import os
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import torch
from safetensors.torch import save_file
from vllm.model_executor.model_loader.weight_utils import safetensors_weights_iterator

RUNS, STREAMS, BLOCK = 3, 8, 16 << 20


def make(root: Path, gigabytes: float, shards: int) -> list[str]:
    """Shards of 16 tensors each, as the experts of one layer."""
    rows = int(gigabytes * 1e9 / shards / 16 / 2048 / 2)
    paths = []
    for n in range(shards):
        noise = torch.randint(-9999, 9999, (16, rows, 2048), dtype=torch.int16)
        path = root / f"model-{n:05}.safetensors"
        save_file({f"{n}.{expert}": noise[expert].clone() for expert in range(16)}, path)
        paths.append(str(path))
    os.sync()  # only clean pages can be dropped
    return paths


def forget(paths: list[str]) -> None:
    for path in paths:
        file = os.open(path, os.O_RDONLY)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(file)


def read(path: str) -> None:
    with Path(path).open("rb", buffering=0) as stream:
        while stream.read(BLOCK):
            pass


def load(paths: list[str], strategy: str | None, ahead: bool) -> float:
    """Seconds until every tensor was summed."""
    forget(paths)
    started = time.monotonic()
    if ahead:
        with ThreadPoolExecutor(STREAMS) as pool:
            list(pool.map(read, paths))
    for _, tensor in safetensors_weights_iterator(paths, False, strategy):
        tensor.view(torch.int64).sum()
    return time.monotonic() - started


def main(gigabytes: float = 2.0, shards: int = 8) -> None:
    ways: dict[str, tuple[str | None, bool]] = {
        "vLLM's default (mapped)": (None, False),
        "eager": ("eager", False),
        "prefetch": ("prefetch", False),
        "read beforehand, then mapped": (None, True),
    }
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_DIR")) as folder:
        paths = make(Path(folder), gigabytes, shards)
        size = sum(Path(path).stat().st_size for path in paths)
        seconds = {name: min(load(paths, *way) for _ in range(RUNS)) for name, way in ways.items()}
    for name, value in seconds.items():
        print(f"{name:32}{value:8.2f} s{size / value / 1e6:10.0f} MB/s")
    print(json.dumps({"gigabytes": size / 1e9, "shards": shards, **seconds}))


if __name__ == "__main__":
    main(*[kind(word) for kind, word in zip((float, int), sys.argv[1:], strict=False)])
