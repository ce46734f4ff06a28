"""nvidia-smi's answers."""

import re
from collections.abc import Iterator
from typing import Any

from glmstead.gpu.values import Gpu, Holder, SmiState

# "No devices were found" can follow this, which names the GPU.
_LOST = re.compile(r"^.*(?:Unable to determine the device handle|GPU is lost).*$", re.M)
_STATES: tuple[tuple[str, SmiState], ...] = (
    ("No devices were found", "no devices"),
    ("version mismatch", "mismatch"),
    ("couldn't communicate with the NVIDIA driver", "not loaded"),
    ("Driver Not Loaded", "not loaded"),
)

BUSY = 95  # %
LITTLE = 1 / 3  # of the power limit
_SHOWN = 200  # characters of what nvidia-smi says


def state_of(answer: dict[str, Any]) -> tuple[SmiState, str]:
    """Which of the known ways nvidia-smi is in, and its own first words where it failed."""
    said = f"{answer['text']}\n{answer['error']}".strip()
    first = said.splitlines()[0].strip() if said else ""
    if answer["status"] in ("missing", "hung"):
        return answer["status"], answer["error"]
    if answer["status"] == "failed" and (lost := _LOST.search(said)):
        return "failed", lost[0].strip()
    if answer["status"] == "ok" and first and not any(gpus(answer["text"])):
        return "failed", first[:_SHOWN]
    for phrase, state in _STATES:
        if phrase in said:
            return state, " ".join(said.split())
    return ("ok", "") if answer["status"] == "ok" else ("failed", first[:_SHOWN] or "no output")


def gpus(text: str) -> Iterator[Gpu]:
    """One GPU a line; a lost one, whose fields are words such as ``[GPU is lost]``, is none."""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split(",")]
        if len(cells) != 14 or not cells[0].isdecimal() or _number(cells[4]) is None:
            continue
        yield Gpu(
            index=int(cells[0]),
            name=cells[1],
            pci=cells[2].lower()[-12:],
            uuid=cells[3],
            capability=cells[4],
            memory_mib=int(_number(cells[5]) or 0),
            used_mib=int(_number(cells[6]) or 0),
            ecc=_switch(cells[7]),
            power_limit_w=_number(cells[8]),
            power_draw_w=_number(cells[9]),
            utilization=_whole(cells[10]),
            persistence=_switch(cells[11]) is True,
            mig=_switch(cells[12]) is True,
            driver=cells[13],
        )


def holders(text: str) -> Iterator[Holder]:
    """Processes with memory on a GPU; inside a container the name can be missing."""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split(",")]
        if len(cells) >= 4 and cells[1].isdigit():
            yield Holder(cells[0], int(cells[1]), ",".join(cells[2:-1]), _whole(cells[-1]))


def cuda_version(*texts: str) -> str | None:
    """CUDA release of the driver, from ``--version`` or the summary's header."""
    for text in texts:
        found = re.search(r"CUDA Version\s*:\s*(\d+\.\d+)", text)
        if found:
            return found[1]
    return None


def slowed(text: str) -> int:
    """How many GPUs are busy and draw little, so that they wait for each other.

    A line a GPU: UUID, utilization in %, draw and limit in W. Figures: 100 % at 140 of 600 W with
    a third of the usual tokens (local-inference-lab/rtx6kpro#25).
    """
    count = 0
    for line in text.splitlines():
        cells = [_number(cell.strip()) for cell in line.split(",")[1:]]
        told = [cell for cell in cells if cell is not None]
        if len(told) == 3:
            busy, draw, limit = told
            count += busy >= BUSY and draw < limit * LITTLE
    return count


def _number(cell: str) -> float | None:
    return float(cell) if re.fullmatch(r"\d+(\.\d+)?", cell) else None


def _whole(cell: str) -> int | None:
    number = _number(cell)
    return None if number is None else int(number)


def _switch(cell: str) -> bool | None:
    return {"Enabled": True, "Disabled": False}.get(cell)
