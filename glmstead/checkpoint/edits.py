"""Corrections of a checkpoint's configs: recorded, the originals beside them, undone to the byte."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from glmstead.checkpoint.listing import STATE, Folder, read_json, write_atomically, write_json

CONFIG = "config.json"
QUANT = "hf_quant_config.json"
"""ModelOpt's own file; vLLM reads it where config.json has no quantization_config."""
INDEX = "model.safetensors.index.json"
Documents = Mapping[str, Mapping[str, Any]]
Drops = dict[str, dict[str, str]]


def edited_digest(folder: Folder, name: str) -> str:
    """sha256 of the corrected file, empty where no correction is recorded."""
    return str(recorded(folder, name).get("sha256", ""))


def recorded(folder: Folder, name: str) -> dict[str, Any]:
    """Return the record of a file's correction, {} where there is none."""
    found = read_json(_record(folder)).get(name, {})
    return found if isinstance(found, dict) else {}


def original(folder: Folder, name: str) -> Path:
    """Where the file as delivered is kept."""
    return folder.root / STATE / f"{name}.original"


def has_kv_scales(tensors: Iterable[str]) -> bool:
    """Whether a checkpoint holds the scales that its configs may promise."""
    return any(name.endswith((".k_scale", ".v_scale")) for name in tensors)


def corrections(documents: Documents, kv_scales: bool) -> Drops:
    """``{file: {key: why}}`` of what to drop: what the loader would believe, and should not."""
    found = {
        CONFIG: _of_config(documents.get(CONFIG, {}), kv_scales),
        QUANT: _of_quant(documents.get(QUANT, {}), kv_scales),
    }
    return {name: keys for name, keys in found.items() if keys}


def correct(folder: Folder) -> list[str]:
    """Drop what misleads the loader; the originals are kept first. One line a correction."""
    documents = {name: read_json(folder.root / name) for name in (CONFIG, QUANT)}
    tensors = read_json(folder.root / INDEX).get("weight_map", {})
    lines = []
    for name, dropped in corrections(documents, has_kv_scales(tensors)).items():
        _drop(folder, name, dropped)
        lines += [f"{name}: dropped {key}: {why}" for key, why in dropped.items()]
    return lines


def restore(folder: Folder) -> list[str]:
    """Put the originals back; names of the files, none where nothing was corrected."""
    names = list(read_json(_record(folder)))
    for name in names:
        write_atomically(folder.root / name, original(folder, name).read_text())
    _record(folder).unlink(missing_ok=True)
    return names


def _of_config(config: Mapping[str, Any], kv_scales: bool) -> dict[str, str]:
    dropped = {}
    experts, stale = config.get("n_routed_experts"), config.get("num_experts")
    if experts is not None and stale is not None and stale != experts:
        # transformers lets num_experts overwrite n_routed_experts: the load runs out of memory.
        dropped["num_experts"] = f"{stale} contradicts n_routed_experts {experts}"
    scheme = (config.get("quantization_config") or {}).get("kv_cache_scheme")
    if scheme is not None and not kv_scales:
        dropped["quantization_config.kv_cache_scheme"] = "promises KV scales that no shard holds"
    return dropped


def _of_quant(config: Mapping[str, Any], kv_scales: bool) -> dict[str, str]:
    promised = (config.get("quantization") or {}).get("kv_cache_quant_algo")
    if promised is None or kv_scales:
        return {}
    why = f"{promised} promises KV scales that no shard holds"
    return {"quantization.kv_cache_quant_algo": why}


def _drop(folder: Folder, name: str, dropped: Mapping[str, str]) -> None:
    path = folder.root / name
    delivered, config = path.read_bytes(), read_json(path)
    write_atomically(original(folder, name), delivered.decode())
    for key in dropped:
        parent, _, leaf = key.rpartition(".")
        (config[parent] if parent else config).pop(leaf)
    text = json.dumps(config, indent=2, ensure_ascii=False) + "\n"
    digest, was = hashlib.sha256(text.encode()), hashlib.sha256(delivered)
    record = {"sha256": digest.hexdigest(), "original": was.hexdigest(), "dropped": dict(dropped)}
    # Recorded before it is done: a kill in between leaves the original, which is as listed.
    write_json(_record(folder), {**read_json(_record(folder)), name: record})
    write_atomically(path, text)


def _record(folder: Folder) -> Path:
    return folder.root / STATE / "edits.json"
