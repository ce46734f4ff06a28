"""Measures all-reduce between ranks under candidate settings; a hang is killed and is a result.

Argument: one JSON object.
  ranks, first, world   ranks on this host, number of the first one, ranks of all hosts
  address, port         where rank 0 listens; each candidate takes the next port
  candidates            [{"name", "env"}, ...], tried in this order
  declared              NCCL_ variables that a candidate must not inherit
  limit_s               bound on one candidate, seconds
  backend               nccl, or gloo for a test without GPUs
Prints one JSON line: {"results": [{"name", "env", "status": ok | hung | failed | wrong,
"busbw_gb_s", "latency_us", "error", "seconds"}, ...]}; figures are rank 0's, None on other hosts.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

LARGE, SMALL = 64 << 20, 12 << 10  # bytes: prefill; one token of hidden size 6144 in bf16
LARGE_ROUNDS, SMALL_ROUNDS = 20, 200


def rank_main(backend: str, limit_s: float) -> None:
    """One rank: check sums, then time them; rank 0 prints its figures."""
    from datetime import timedelta

    import torch  # type: ignore[import-not-found]
    import torch.distributed as dist  # type: ignore[import-not-found]

    gpu = backend == "nccl"
    local, world = int(os.environ["LOCAL_RANK"]), int(os.environ["WORLD_SIZE"])
    device = torch.device(f"cuda:{local}" if gpu else "cpu")
    if gpu:
        torch.cuda.set_device(device)
    # Longer than the limit outside, which kills a hang and knows that it was one.
    timeout = timedelta(seconds=limit_s + 60)
    dist.init_process_group(backend, timeout=timeout, device_id=device if gpu else None)

    def reduced(size: int, rounds: int) -> float:
        """Seconds of one all-reduce of ``size`` bytes; raises ValueError for a wrong sum."""
        values = torch.empty(size // 4, dtype=torch.float32, device=device)
        values.fill_(float(dist.get_rank() + 1))
        dist.all_reduce(values)
        total = world * (world + 1) / 2
        if not bool((values == total).all()):
            raise ValueError(f"a sum of {size} bytes is wrong")
        values.zero_()
        for _ in range(5):
            dist.all_reduce(values)
        dist.barrier()
        start = time.perf_counter()
        for _ in range(rounds):
            dist.all_reduce(values)
        if gpu:
            torch.cuda.synchronize()
        return (time.perf_counter() - start) / rounds

    small, large = reduced(SMALL, SMALL_ROUNDS), reduced(LARGE, LARGE_ROUNDS)
    if dist.get_rank() == 0:
        bandwidth = 2 * (world - 1) / world * LARGE / large / 1e9
        figures = {"busbw_gb_s": round(bandwidth, 2), "latency_us": round(small * 1e6, 1)}
        print("FIGURES " + json.dumps(figures), flush=True)
    dist.barrier()
    dist.destroy_process_group()


def start_ranks(
    request: "dict[str, Any]", candidate: "dict[str, Any]", port: int, log: "list[Any]"
) -> "list[subprocess.Popen[bytes]]":
    inherited = {k: v for k, v in os.environ.items() if k not in request["declared"]}
    processes = []
    for number, file in enumerate(log):
        environment = {
            **inherited,
            **candidate["env"],
            "RANK": str(request["first"] + number),
            "LOCAL_RANK": str(number),
            "WORLD_SIZE": str(request["world"]),
            "MASTER_ADDR": request["address"],
            "MASTER_PORT": str(port),
        }
        words = [sys.executable, __file__, "rank", request["backend"], str(request["limit_s"])]
        processes.append(
            subprocess.Popen(
                words,
                env=environment,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        )
    return processes


def wait(processes: "list[subprocess.Popen[bytes]]", limit_s: float) -> str:
    """How the ranks ended: one that fails ends the others, and so does the time limit."""
    deadline = time.monotonic() + limit_s
    status = "ok"
    while any(process.poll() is None for process in processes):
        if any(process.poll() for process in processes):
            status = "failed"
            break
        if time.monotonic() > deadline:
            status = "hung"
            break
        time.sleep(0.1)
    if any(process.poll() for process in processes) and status == "ok":
        status = "failed"
    for process in processes:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    return status


def last_error(texts: "list[str]") -> str:
    """The line that says why: NCCL's own first, else the exception of the rank that has one."""
    for pattern in (r"^ncclSystemError.*|.*NCCL WARN (.*)", r"^\w*(?:Error|Exception)\b.*"):
        for text in texts:
            found = re.search(pattern, text, re.M)
            if found:
                return found[0].strip()[:300]
    return next((t.strip().splitlines()[-1][:300] for t in texts if t.strip()), "no output")


def trial(request: "dict[str, Any]", number: int) -> "dict[str, Any]":
    candidate = request["candidates"][number]
    start = time.monotonic()
    log = [tempfile.TemporaryFile() for _ in range(request["ranks"])]  # noqa: SIM115
    status = wait(
        start_ranks(request, candidate, request["port"] + number, log), request["limit_s"]
    )
    texts = []
    for file in log:
        file.seek(0)
        texts.append(file.read().decode(errors="replace"))
        file.close()
    figures = re.search(r"^FIGURES (.*)$", texts[0], re.M)
    error = "" if status == "ok" else last_error(texts)
    return {
        **candidate,
        "status": "wrong" if "a sum of" in error else status,
        "busbw_gb_s": None,
        "latency_us": None,
        **(json.loads(figures[1]) if figures and status == "ok" else {}),
        "error": f"no end within {request['limit_s']:g} s" if status == "hung" else error,
        "seconds": round(time.monotonic() - start, 1),
    }


def main() -> None:
    request = json.loads(Path(sys.argv[1]).read_text() if sys.argv[1][0] == "/" else sys.argv[1])
    results = [trial(request, number) for number in range(len(request["candidates"]))]
    print(json.dumps({"results": results}))


if __name__ == "__main__":
    if sys.argv[1] == "rank":
        rank_main(sys.argv[2], float(sys.argv[3]))
    else:
        main()
