"""Modules that stand in for those of vLLM's pull request 38476: the same names, no kernels."""

import json
from hashlib import sha256
from pathlib import Path

MODULES = {
    "vllm/v1/attention/ops/mqa_logits_triton.py": (
        "def fp8_mqa_logits_triton(): ...\n\n\ndef fp8_paged_mqa_logits_triton(): ...\n"
    ),
    "vllm/v1/attention/ops/triton_sparse_mla_kernel.py": "",
    "vllm/v1/attention/backends/mla/triton_mla_sparse.py": "class TritonMLASparseBackend: ...\n",
}


def stand_in(folder: Path, modules: dict[str, str] = MODULES) -> dict[str, str]:
    """Write the modules and their list into a folder; the settings that bring them from there."""
    for path, text in modules.items():
        file = folder / "source" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    files = {path: sha256(text.encode()).hexdigest() for path, text in modules.items()}
    (folder / "standin.json").write_text(json.dumps({"commit": "d" * 40, "files": files}))
    return {
        "overlay_name": "standin",
        "overlay_folder": str(folder),
        "overlay_source": str(folder / "source"),
    }
