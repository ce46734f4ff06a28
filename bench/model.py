"""What verification, spreading and second runs cost: ``python bench/model.py [GB] [SHARDS]``.

Each figure beside that of a plain tool on the same files: ``sha256sum`` run with ``xargs -P``, and
rsync to two targets one after the other. All on this machine, so copies share its processors and
disk. Prints lines for people and one JSON object at the end.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parents[1]
PROBE = HERE / "glmstead" / "probes" / "model.py"
PROGRAM = [sys.executable, "-m", "glmstead.checkpoint"]


def timed(work: Callable[[], object]) -> float:
    started = time.monotonic()
    work()
    return time.monotonic() - started


def run(*words: str, stdin: str = "") -> str:
    done = subprocess.run(words, cwd=HERE, input=stdin, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{words}: {done.stdout} {done.stderr}")
    return done.stdout


def make(root: Path, gigabytes: float, shards: int) -> int:
    """Write shards of noise and an index; returns bytes."""
    root.mkdir(parents=True)
    block = os.urandom(1 << 20)
    size = int(gigabytes * 1e9 / shards)
    names = [f"model-{n:05}-of-{shards:05}.safetensors" for n in range(1, shards + 1)]
    for number, name in enumerate(names):
        with (root / name).open("wb") as stream:
            stream.write(number.to_bytes(8, "big"))
            for offset in range(8, size, len(block)):
                stream.write(block[: size - offset])
    weights = {f"layer.{number}": name for number, name in enumerate(names)}
    (root / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weights}))
    (root / "config.json").write_text("{}")
    os.sync()
    return size * shards


def request(root: Path, **more: Any) -> str:
    return json.dumps({"root": str(root), "origin": "bench", **more})


def lend(root: Path) -> "tuple[subprocess.Popen[bytes], str]":
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    words = [*PROGRAM, "share", str(root), "--bind", "127.0.0.1", "--port", str(port)]
    process = subprocess.Popen([*words, "--allow", "127.0.0.1"], cwd=HERE)
    return process, f"127.0.0.1:{port}"


def verify(root: Path, size: int) -> dict[str, float]:
    """Verify against sha256sum, the page cache warm for both."""
    names = " ".join(path.name for path in root.glob("*.safetensors"))
    processors = os.cpu_count() or 1
    plain = f"cd {root} && printf '%s\\n' {names} | xargs -P {processors} -n 1 sha256sum >/dev/null"
    run("sh", "-c", plain)
    theirs = min(timed(lambda: run("sh", "-c", plain)) for _ in range(3))
    deep = [*PROGRAM, "verify", str(root), "--deep"]
    ours = min(timed(lambda: run(*deep)) for _ in range(3))
    again = min(timed(lambda: run(*deep[:-1])) for _ in range(3))
    asked = json.dumps({"path": str(root), "copy": "/nonexistent"})
    probe = min(timed(lambda: run(sys.executable, str(PROBE), asked)) for _ in range(3))
    return {
        "verify_mb_s": size / ours / 1e6,
        "sha256sum_mb_s": size / theirs / 1e6,
        "second_verify_s": again,
        "second_run_probe_s": probe,
    }


def spread(root: Path, size: int) -> dict[str, float]:
    """Copy to two hosts at once, each lending on; against rsync to one after the other."""
    folder = root.parent
    targets = [folder / "one", folder / "two"]

    def rsync() -> None:
        for target in targets:
            run("rsync", "-a", "--exclude", ".glmstead", f"{root}/", f"{target}/")
            run("sh", "-c", f"cd {target} && sha256sum *.safetensors >/dev/null")

    theirs = timed(rsync)
    for target in targets:
        shutil.rmtree(target)
        (target / ".glmstead").mkdir(parents=True)
    lenders = [lend(place) for place in (root, *targets)]

    def ours() -> None:
        runs = []
        for own, target in enumerate(targets, start=1):
            peers = [address for n, (_, address) in enumerate(lenders) if n != own]
            process = subprocess.Popen(
                [*PROGRAM, "place"], cwd=HERE, stdin=subprocess.PIPE, text=True
            )
            assert process.stdin is not None
            process.stdin.write(request(target, part=None, peers=peers))
            process.stdin.close()
            runs.append(process)
        if any(process.wait() for process in runs):
            raise SystemExit("a copy failed")

    seconds = timed(ours)
    for process, _ in lenders:
        process.kill()
    return {"spread_to_two_s": seconds, "rsync_one_after_the_other_s": theirs}


def main(gigabytes: float = 2.0, shards: int = 141) -> None:
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_DIR")) as place:
        root = Path(place) / "source"
        size = make(root, gigabytes, shards)
        first = timed(lambda: run(*PROGRAM, "place", stdin=request(root, local=str(root))))
        figures = {"gigabytes": size / 1e9, "shards": shards, "first_verify_s": first}
        figures |= verify(root, size)
        if shutil.which("rsync"):
            figures |= spread(root, size)
    for name, value in figures.items():
        print(f"{name:30}{value:12.3f}")
    print(json.dumps(figures))


if __name__ == "__main__":
    main(float(sys.argv[1]) if sys.argv[1:] else 2.0, int(sys.argv[2]) if sys.argv[2:] else 141)
