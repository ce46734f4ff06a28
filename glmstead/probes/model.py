"""Says what lies in a checkpoint's folder; argument: its path.

Answers {"config": config.json or {}, "index": names of shards the index needs, "files": {name:
size in bytes}} without reading a weight.
"""

import json
import sys
from pathlib import Path
from typing import Any


def document(path: Path) -> "dict[str, Any]":
    try:
        found: dict[str, Any] = json.loads(path.read_text())
        return found
    except (OSError, ValueError):
        return {}


root = Path(json.loads(sys.argv[1]))
index = document(root / "model.safetensors.index.json").get("weight_map", {})
files = {p.name: p.stat().st_size for p in root.iterdir() if p.is_file()} if root.is_dir() else {}
answer = {
    "config": document(root / "config.json"),
    "index": sorted(set(index.values())),
    "files": files,
}
print(json.dumps(answer))
