"""Says what lies in a checkpoint's folder; argument: {"path": folder, "copy": file}.

Answers without reading a weight: "config", "quant" (hf_quant_config.json), "index" (shards it needs),
"kv_scales", "files" (bytes by name), "origin" and "manifest" (sha256) of the manifest, "verified" (sha256 by name, where size,
mtime and inode are those that were hashed), "lacking" (names of the manifest that are not), "strays"
(foreign weights, halves of downloads), "copied" (whether ``copy`` says what lies here).
"""

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

STRAYS = (".safetensors", ".bin", ".pt", ".pth", ".gguf", ".incomplete", ".part", ".new")


def document(path: Path) -> "dict[str, Any]":
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def sizes(root: Path) -> "dict[str, int]":
    paths = [p for p in root.rglob("*") if p.is_file()] if root.is_dir() else []
    names = [(p.relative_to(root), p.stat().st_size) for p in paths]
    return {str(name): size for name, size in sorted(names) if name.parts[0] != ".glmstead"}


def verified(root: Path) -> "dict[str, str]":
    found = {}
    for name, known in document(root / ".glmstead/verified.json").items():
        path = root / name
        if path.is_file() and not path.is_symlink():
            status = path.stat()
            if known["stat"] == [status.st_size, status.st_mtime_ns, status.st_ino]:
                found[name] = known["digests"]["sha256"]
    return found


def entries_of(manifest: "dict[str, Any]") -> "dict[str, dict[str, Any]]":
    """Files of a manifest; one that is damaged counts as none."""
    files = manifest.get("files")
    if not isinstance(files, dict):
        return {}
    sound = all(isinstance(one, dict) and "sha256" in one for one in files.values())
    return files if sound else {}


def text_of(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


request = json.loads(sys.argv[1])
root = Path(request["path"])
manifest, weights = (
    root / ".glmstead/manifest.json",
    document(root / "model.safetensors.index.json"),
)
tensors = weights.get("weight_map", {})
entries, files, hashed = entries_of(document(manifest)), sizes(root), verified(root)
edits = document(root / ".glmstead/edits.json")
good = {
    name
    for name, entry in entries.items()
    if hashed.get(name) == entry["sha256"]
    or (name in edits and hashed.get(name) == edits[name]["sha256"])
}
lines = "".join(f"{hashed.get(name)}  {root / name}\n" for name in sorted(entries))
answer = {
    "config": document(root / "config.json"),
    "quant": document(root / "hf_quant_config.json"),
    "index": sorted(set(tensors.values())),
    "kv_scales": any(name.endswith((".k_scale", ".v_scale")) for name in tensors),
    "files": files,
    "origin": document(manifest).get("origin", "") if entries else "",
    "manifest": hashlib.sha256(text_of(manifest).encode()).hexdigest(),
    "verified": hashed,
    "lacking": sorted(set(entries) - good),
    "strays": [name for name in files if name not in entries and name.endswith(STRAYS)],
    "copied": bool(entries) and text_of(Path(request["copy"])) == lines,
}
print(json.dumps(answer))
