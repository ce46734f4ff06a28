"""The settings of NCCL that are tried, plainest first."""

from typing import Any

# Without P2P the copies through memory need more channels and buffers to keep up.
_OFF = {"NCCL_P2P_DISABLE": "1"}
_MANY = {"NCCL_MIN_NCHANNELS": "16", "NCCL_MAX_NCHANNELS": "32", "NCCL_BUFFSIZE": "33554432"}

_CANDIDATES: tuple[tuple[str, dict[str, str]], ...] = (
    ("NCCL's own choice", {}),
    ("P2P over every link", {"NCCL_P2P_LEVEL": "SYS"}),
    ("P2P over every link, 8 channels", {"NCCL_P2P_LEVEL": "SYS", "NCCL_MIN_NCHANNELS": "8"}),
    ("P2P off", _OFF),
    ("P2P off, 16 channels", {**_OFF, **_MANY}),
)
DECLARED = "declared (nccl_env)"


def candidates(declared: dict[str, str]) -> list[dict[str, Any]]:
    """What to try on a host: the known ones, and what the route declares."""
    known = [{"name": name, "env": env} for name, env in _CANDIDATES]
    return [*known, {"name": DECLARED, "env": declared}] if declared else known
