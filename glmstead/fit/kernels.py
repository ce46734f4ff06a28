"""Which head counts a sparse kernel exists for; a missing one stops the engine after the load."""

from __future__ import annotations

from packaging.version import Version

_TABLE = (8, 16, 32, 64, 128)  # decode kernels of FlashInfer 0.6.14 to 0.7.1, for each top-k below
_TOP_K = (128, 512, 1024, 2048)
_ANY_FROM = Version("0.7.2.post1")
SM120_SPARSE = "FLASHINFER_MLA_SPARSE_SM120"


def undispatchable(
    backend: str | None, flashinfer: str | None, heads: int, top_k: int, padded: bool
) -> str | None:
    """Return why there is no kernel for a rank's heads, None where there is one.

    Only the stock SM120 kernels have a table; ``padded``: HEAD_PAD_TP16 makes 4 heads 8.
    """
    if backend != SM120_SPARSE:
        return None
    if flashinfer is None or Version(flashinfer) < Version("0.6.14"):
        return f"FlashInfer {flashinfer or 'absent'} has no sparse kernels for SM120"
    if Version(flashinfer) >= _ANY_FROM:
        return None
    count = max(heads, 8) if padded else heads
    if count in _TABLE and top_k in _TOP_K:
        return None
    return (
        f"FlashInfer {flashinfer} has no sparse decode kernel for {heads} heads and top-k {top_k}"
    )
