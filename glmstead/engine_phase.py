"""What an engine is doing, told from the last lines of its start; no I/O."""

import re
from collections.abc import Sequence

# Newest first wins; each pattern is a line of vLLM 0.28 to 0.33 or of our own programs.
_PHASES = (
    (re.compile(r"Application startup complete"), "asking for the first token"),
    (re.compile(r"Capturing CUDA graph\S*.*?(\d+/\d+)"), "capturing CUDA graphs, {} done"),
    (re.compile(r"torch\.compile|Compiling a graph|Dynamo bytecode"), "compiling"),
    (re.compile(r"No available shared memory broadcast block"), "compiling kernels (no progress)"),
    (re.compile(r"KV cache size"), "warming up"),
    (re.compile(r"Loading weights took"), "weights loaded"),
    (re.compile(r"checkpoint shards:.*?(\d+/\d+)"), "loading weights, {} shards"),
    (re.compile(r"Initializing a V1 LLM engine"), "starting ranks"),
    (re.compile(r"Ray holds"), "importing"),
    (re.compile(r"waiting for Ray: (.*)"), "waiting for Ray: {}"),
    (re.compile(r"failed starts in a row: (waiting \d+ s)"), "{} after a failed start"),
)


def phase(active_state: str, journal: Sequence[str]) -> str:
    """One line on an engine: ready, or how far its start is."""
    if active_state == "active":
        return "ready"
    if active_state != "activating":
        return active_state
    for line in reversed(journal):
        for pattern, text in _PHASES:
            if found := pattern.search(line):
                return text.format(*found.groups())
    return "starting"


def last_error(journal: Sequence[str]) -> str:
    """The last line that looks like a reason; empty without one."""
    reason = re.compile(r"(\b\w*(Error|Exception)\b: .*|.* ERROR .*|glmstead: .*)")
    found = (match[0] for line in reversed(journal) if (match := reason.search(line)))
    return next(found, "")[:160].strip()
