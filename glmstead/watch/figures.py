"""Figures of a host that no exporter has, written for the node exporter; see docs/metrics.md.

A thread of the watch: a driver that hangs holds up the figures, whose age is an alert, never the
watch.
"""

import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

from glmstead.gpu.smi import slowed, state_of
from glmstead.patching.guard import missing

FIELDS = "uuid,utilization.gpu,power.draw,power.limit"
SMI = ["nvidia-smi", f"--query-gpu={FIELDS}", "--format=csv,noheader,nounits"]
SMI_BOUND_S = 20


def start(config: dict[str, Any], units: list[str], folder: Path) -> None:
    """Begin to write; ``folder``: the watch's own, beside those of the units."""
    Thread(target=_write_on, args=(config, units, folder), daemon=True).start()


def _write_on(config: dict[str, Any], units: list[str], folder: Path) -> None:
    file = Path(config["file"])
    new = file.with_suffix(".new")
    while True:
        lines = [*of_units(config["failed_starts"], units, folder)]
        lines += of_patches(config["patches"]) if config["patches"] else ()
        lines += of_gpus(config["gpus"]) if config["gpus"] else ()
        lines.append(f"glmstead_figures_timestamp_seconds {time.time():.0f}")
        new.write_text("".join(f"{line}\n" for line in lines))
        new.chmod(0o644)
        new.rename(file)
        time.sleep(config["interval_s"])


def of_units(limit: int, units: list[str], folder: Path) -> Iterator[str]:
    """Failed starts in a row, sleep, and what the watch did with each unit."""
    for unit in units:
        own = folder.parent / unit
        label = f'{{unit="{unit}"}}'
        failed = int(_document(own / "failed").get("count", 0))
        watched = _document(folder / f"{unit}.json")
        gave_up = str(watched.get("state", "")).startswith("gave up")
        yield f"glmstead_failed_starts{label} {failed}"
        yield f"glmstead_gave_up{label} {int(failed >= limit)}"
        yield f"glmstead_asleep{label} {int((own / 'asleep').exists())}"
        yield f"glmstead_watch_restarts{label} {len(watched.get('restarts', []))}"
        yield f"glmstead_watch_gave_up{label} {int(gave_up)}"
        if watched.get("alive_at"):
            yield f"glmstead_alive_timestamp_seconds{label} {watched['alive_at']:.0f}"


def of_patches(manifest: str) -> Iterator[str]:
    """Whether each patch is missing from a file it was written to."""
    if not Path(manifest).exists():
        yield 'glmstead_patch_missing{patch="all, and their list"} 1'
    for tag, files in _document(Path(manifest)).items():
        yield f'glmstead_patch_missing{{patch="{tag}"}} {int(bool(missing({tag: files})))}'


def of_gpus(declared: int) -> Iterator[str]:
    """How the driver answers, how many GPUs it has, and how many of them only wait."""
    answer: dict[str, Any] = {"status": "ok", "text": "", "error": ""}
    try:
        done = subprocess.run(SMI, capture_output=True, text=True, timeout=SMI_BOUND_S, check=False)
        status = "failed" if done.returncode else "ok"
        answer = {"status": status, "text": done.stdout, "error": done.stderr}
    except FileNotFoundError:
        answer["status"] = "missing"
    except subprocess.TimeoutExpired:
        answer["status"] = "hung"
    state, _ = state_of(answer)
    found = answer["text"].count("GPU-") if state == "ok" else 0
    yield f'glmstead_gpu_driver{{state="{state}"}} 1'
    yield f"glmstead_gpus_found {found}"
    yield f"glmstead_gpus_declared {declared}"
    yield f"glmstead_gpus_slowed {slowed(answer['text'])}"


def _document(path: Path) -> dict[str, Any]:
    """A JSON file of ours; empty where there is none, or half of one."""
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
