"""Corrections of config.json: recorded with the original beside them, and undone to the byte."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from glmstead.checkpoint.listing import STATE, Folder, read_json, write_atomically, write_json

CONFIG = "config.json"
INDEX = "model.safetensors.index.json"


def edited_digest(folder: Folder, name: str) -> str:
    """sha256 of the corrected file, empty where no correction is recorded."""
    record = read_json(_record(folder)) if name == CONFIG else {}
    return str(record.get("sha256", ""))


def has_kv_scales(tensors: Iterable[str]) -> bool:
    """Whether a checkpoint holds the scales that ``kv_cache_scheme`` promises."""
    return any(name.endswith((".k_scale", ".v_scale")) for name in tensors)


def corrections(config: Mapping[str, Any], kv_scales: bool) -> dict[str, str]:
    """``{key: why}`` of the keys to drop: what the loader would believe, and should not."""
    dropped = {}
    experts, stale = config.get("n_routed_experts"), config.get("num_experts")
    if experts is not None and stale is not None and stale != experts:
        # transformers lets num_experts overwrite n_routed_experts: the load runs out of memory.
        dropped["num_experts"] = f"{stale} contradicts n_routed_experts {experts}"
    scheme = (config.get("quantization_config") or {}).get("kv_cache_scheme")
    if scheme is not None and not kv_scales:
        dropped["quantization_config.kv_cache_scheme"] = "promises KV scales that no shard holds"
    return dropped


def correct(folder: Folder) -> list[str]:
    """Drop what misleads the loader; the original is kept first. One line a correction."""
    path = folder.root / CONFIG
    config = read_json(path)
    tensors = read_json(folder.root / INDEX).get("weight_map", {})
    dropped = corrections(config, has_kv_scales(tensors))
    if not dropped:
        return []
    delivered = path.read_bytes()
    write_atomically(original(folder), delivered.decode())
    for key in dropped:
        parent, _, leaf = key.rpartition(".")
        (config[parent] if parent else config).pop(leaf)
    text = json.dumps(config, indent=2, ensure_ascii=False) + "\n"
    digest = hashlib.sha256(text.encode()).hexdigest()
    was = hashlib.sha256(delivered).hexdigest()
    # Recorded before it is done: a kill in between leaves the original, which is as listed.
    write_json(_record(folder), {"sha256": digest, "original": was, "dropped": dropped})
    write_atomically(path, text)
    return [f"{CONFIG}: dropped {key}: {why}" for key, why in dropped.items()]


def restore(folder: Folder) -> bool:
    """Put the original config.json back; False where nothing was corrected."""
    record = _record(folder)
    if not record.exists():
        return False
    write_atomically(folder.root / CONFIG, original(folder).read_text())
    record.unlink()
    return True


def _record(folder: Folder) -> Path:
    return folder.root / STATE / "edits.json"


def original(folder: Folder) -> Path:
    """Where the file as delivered is kept."""
    return folder.root / STATE / f"{CONFIG}.original"
