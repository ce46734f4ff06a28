"""Copies of the test checkpoint that an engine loads without a word and serves wrongly."""

import json
import random
import shutil
import struct
from pathlib import Path

_ROWS = ("q_b_proj", "kv_b_proj", "gate_proj", "up_proj", "embed_tokens", "lm_head")
_COLUMNS = ("o_proj", "down_proj")


def other_rope(source: Path, target: Path) -> None:
    """The same weights under another rotary base."""
    shutil.copytree(source, target)
    config = json.loads((target / "config.json").read_text())
    config["rope_parameters"]["rope_theta"] = 10_000
    (target / "config.json").write_text(json.dumps(config))


def other_layer_map(source: Path, target: Path) -> None:
    """Two maps that contradict each other: the last layer runs its indexer in one only."""
    shutil.copytree(source, target)
    config = json.loads((target / "config.json").read_text())
    letters = ["F" if one == "full" else "S" for one in config["indexer_types"]]
    letters[-1] = "S" if letters[-1] == "F" else "F"
    config["index_topk_pattern"] = "".join(letters)
    (target / "config.json").write_text(json.dumps(config))


def corrupted_shard(source: Path, target: Path) -> None:
    """A hole of 2 MiB in the weights, as a broken transfer leaves: right size, wrong content."""
    shutil.copytree(source, target)
    with (target / "model.safetensors").open("r+b") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        file.seek(8 + length + 3_000_000)
        file.write(bytes(2 << 20))


def other_seed_on_one_rank(source: Path, target: Path) -> None:
    """What rank 1 of two holds is from another seed: the second half of every split tensor."""
    shutil.copytree(source, target)
    path = target / "model.safetensors"
    data = bytearray(path.read_bytes())
    (length,) = struct.unpack("<Q", data[:8])
    rng = random.Random(1)
    for name, about in json.loads(data[8 : 8 + length]).items():
        if name == "__metadata__" or len(about["shape"]) != 2:
            continue
        begin, end = (8 + length + offset for offset in about["data_offsets"])
        rows, columns = about["shape"]
        if any(part in name for part in _ROWS):
            _randomise(data, (begin + end) // 2, end, rng)
        elif any(part in name for part in _COLUMNS):
            for row in range(rows):
                start = begin + row * columns * 2
                _randomise(data, start + columns, start + columns * 2, rng)
    path.write_bytes(data)


def _randomise(data: bytearray, begin: int, end: int, rng: random.Random) -> None:
    """bfloat16 numbers of the size of freshly initialised weights, about 0.02."""
    for at in range(begin, end, 2):
        sign, fraction = rng.randrange(2), rng.randrange(128)
        struct.pack_into("<H", data, at, sign << 15 | (127 - 6) << 7 | fraction)
