"""What vLLM's patched sources do on a GPU of some kind, run with every other module stubbed.

Usage: python dispatch.py SITE_PACKAGES xpu|deepgemm|neither. Prints JSON: the kernels called for a
prefill and a decode, the enum's entry, the candidates of compute capabilities 8.0 and 9.0, and what
the indexer's layer says when it is made.
"""

import importlib.abc
import importlib.machinery
import json
import sys
from collections import namedtuple
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import MagicMock

SITE, KIND = Path(sys.argv[1]), sys.argv[2]
REAL = (
    "vllm.v1.attention.backends.registry",
    "vllm.platforms.cuda",
    "vllm.model_executor.layers.sparse_attn_indexer",
    "vllm.v1.attention.ops.mqa_logits_triton",
)


class Stubs(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Any module of vLLM, torch and their friends: real where listed, else full of mocks."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name.split(".")[0] not in ("vllm", "torch", "cuda", "regex", "typing_extensions"):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=name not in REAL)

    def create_module(self, spec: Any) -> ModuleType:
        module = ModuleType(spec.name)
        if spec.name not in REAL:
            module.__getattr__ = lambda attribute: made(spec.name, attribute)  # type: ignore[method-assign]
        return module

    def exec_module(self, module: ModuleType) -> None:
        if module.__name__ in REAL:
            file = SITE / (module.__name__.replace(".", "/") + ".py")
            exec(compile(file.read_text(), str(file), "exec"), module.__dict__)


class Metadata:
    """An indexer's metadata with one prefill and one decode."""

    def __init__(self) -> None:
        self.__dict__.update(num_decodes=1, num_prefills=1, num_decode_tokens=1, max_seq_len=8)
        self.slot_mapping = MagicMock(shape=(2,))
        chunk = MagicMock(token_start=0, token_end=1, total_seq_lens=8, skip_kv_gather=True)
        self.prefill = MagicMock(chunks=[chunk])
        self.decode = MagicMock(requires_padding=False)


class Layer:
    """Base of custom operations."""

    @staticmethod
    def register(_: str) -> Any:
        return lambda found: found

    def __init__(self) -> None: ...


def called(name: str) -> Any:
    def kernel(*_: Any, **__: Any) -> MagicMock:
        calls.append(name)
        return MagicMock(shape=(1, 8), stride=lambda _: 8)

    return kernel


def made(module: str, attribute: str) -> Any:
    if attribute.startswith("__"):
        raise AttributeError(attribute)
    return KNOWN.setdefault((module, attribute), MagicMock(name=f"{module}.{attribute}"))


calls: list[str] = []
said: list[str] = []
logger = MagicMock(warning_once=said.append)
platform = MagicMock()
platform.is_xpu.return_value = KIND == "xpu"
platform.is_cuda.return_value = KIND != "xpu"
Capability = namedtuple("Capability", "major minor")
KNOWN: dict[tuple[str, str], Any] = {
    ("vllm.utils.deep_gemm", "is_deep_gemm_supported"): lambda: KIND == "deepgemm",
    ("vllm.utils.deep_gemm", "has_deep_gemm"): lambda: True,  # the wheel brings it
    ("vllm.utils.deep_gemm", "fp8_fp4_mqa_logits"): called("deepgemm prefill"),
    ("vllm.utils.deep_gemm", "fp8_fp4_paged_mqa_logits"): called("deepgemm decode"),
    ("vllm.compilation.breakable_cudagraph", "eager_break_during_capture"): lambda made: made,
    ("vllm.platforms", "current_platform"): platform,
    ("vllm.utils.import_utils", "import_pynvml"): lambda: MagicMock(
        nvmlInit=MagicMock(side_effect=OSError)
    ),
    ("vllm.platforms.interface", "Platform"): type("Platform", (), {"log_warnings": lambda: None}),
    ("vllm.logger", "init_logger"): lambda _: logger,
    ("vllm.model_executor.custom_op", "CustomOp"): Layer,
    ("vllm.v1.attention.backends.mla.indexer", "DeepseekV32IndexerMetadata"): Metadata,
}
sys.meta_path.insert(0, Stubs())

import torch  # type: ignore[import-not-found, unused-ignore]  # noqa: E402

xpu = MagicMock()
xpu.vllm.xpu_fp8_mqa_logits = called("xpu prefill")
xpu.vllm.xpu_fp8_paged_mqa_logits = called("xpu decode")
torch.ops = xpu
import vllm.v1.attention.ops.mqa_logits_triton as triton  # type: ignore[import-not-found, unused-ignore]  # noqa: E402

triton.fp8_mqa_logits_triton = called("triton prefill")
triton.fp8_paged_mqa_logits_triton = called("triton decode")
import vllm.model_executor.layers.sparse_attn_indexer as indexer  # type: ignore[import-not-found, unused-ignore]  # noqa: E402
import vllm.platforms.cuda as cuda  # type: ignore[import-not-found, unused-ignore]  # noqa: E402
import vllm.v1.attention.backends.registry as registry  # type: ignore[import-not-found, unused-ignore]  # noqa: E402

context = MagicMock(attn_metadata={"layer": Metadata()})
indexer.get_forward_context = lambda: context
indexer._resolve_layer_name = lambda name: name
indexer.kv_cache_as_quant_view = MagicMock()
workspaces = MagicMock()
workspaces.get_simultaneous.side_effect = lambda *specs: tuple(MagicMock() for _ in specs)
indexer.current_workspace_manager = lambda: workspaces
tensor = MagicMock(shape=(2, 32, 128))
indexer.sparse_attn_indexer(
    *(tensor, "layer", tensor, tensor, None, tensor, tensor, 128, "ue8m0", 2048, 128, 8192, 8192),
    *(tensor, True),
)
try:
    indexer.SparseAttnIndexer(*(MagicMock() for _ in range(8)))
except RuntimeError as error:
    said.append(f"RuntimeError: {error}")
cuda.AttentionBackendEnum = registry.AttentionBackendEnum


def candidates(major: int) -> list[str]:
    found = cuda._get_backend_priorities(True, Capability(major, 0), 8)
    return [one.name for one in found]


entry = registry.AttentionBackendEnum.__members__.get("TRITON_MLA_SPARSE")
print(
    json.dumps(
        {
            "kernels": calls,
            "backend": entry and entry.value,
            "candidates": {"8.0": candidates(8), "9.0": candidates(9)},
            "said": said,
        }
    )
)
