"""What the answers of all hosts mean: what is wrong, and the next command; no I/O."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from glmstead import places
from glmstead.engine_phase import last_error, phase

GAVE_UP_AFTER = 5  # files/libexec/attempts.py


@dataclass(frozen=True)
class Wrong:
    """Something that is not as it should be, and the command that comes next."""

    what: str
    next: str


@dataclass(frozen=True)
class Report:
    """The state of a cluster."""

    rows: tuple[tuple[str, ...], ...]
    ray: str
    engine: dict[str, Any]
    wrong: tuple[Wrong, ...]

    @property
    def document(self) -> dict[str, Any]:
        """As a machine reads it."""
        return {"ok": not self.wrong, **asdict(self)}


def judge(questions: dict[str, dict[str, Any]], found: dict[str, Any], inventory: str) -> Report:
    """Return the report; a host missing from ``found`` gave no answer."""
    rows: list[tuple[str, ...]] = []
    asks_ray = any(asked["ray"] is not None for asked in questions.values())
    ray = "not asked, the head gave no answer" if asks_ray else ""
    engine: dict[str, Any] = {"phase": "unknown"}
    for host, asked in questions.items():
        answer = found.get(host)
        if answer is None:
            rows.append((host, "-", "no answer", "-", "-"))
            continue
        rows += [(host, unit, *_cells(answer["units"][unit])) for unit in asked["units"]]
        if asked["ray"] is not None:
            ray = str(answer["ray"])
        if asked["engine"] is not None:
            engine = summary(answer)
    wrong = tuple(_wrong(questions, found, inventory))
    return Report(tuple(rows), ray.removeprefix("Ray "), engine, wrong)


def summary(answer: dict[str, Any]) -> dict[str, Any]:
    """What the head says of the engine; ``kv_cache`` is a share, times are Unix times."""
    engine, shown = answer["engine"], answer["units"][places.VLLM]
    metrics = engine["metrics"] or {}
    watched = answer["watch"].get(places.VLLM) or {}
    return {
        "phase": "asleep" if engine["asleep"] else phase(shown["ActiveState"], engine["journal"]),
        "open": engine["open"],
        "running": metrics.get("num_requests_running"),
        "waiting": metrics.get("num_requests_waiting"),
        "kv_cache": metrics.get("kv_cache_usage_perc"),
        "watch": watched.get("state"),
        "alive_at": watched.get("alive_at"),
    }


def _wrong(
    questions: dict[str, dict[str, Any]], found: dict[str, Any], inventory: str
) -> Iterator[Wrong]:
    deploy, recover = f"glmstead deploy {inventory}", f"glmstead recover {inventory}"
    for host, asked in questions.items():
        if host not in found:
            yield Wrong(f"{host} does not answer", f"start {host}, or check SSH to it")
            continue
        answer = found[host]
        told = list(_engine_wrong(host, answer, inventory)) if asked["engine"] else []
        yield from told
        asleep = asked["engine"] and answer["engine"]["asleep"]
        serves = asked["ray"] and answer["units"][places.VLLM]["ActiveState"] == "active"
        if serves and not answer["ray"].startswith("Ray holds"):
            yield Wrong(f"{host}: Ray: {answer['ray']}, though the engine serves", recover)
        for unit in asked["units"]:
            shown = answer["units"][unit]
            if (told or asleep) and unit in (places.VLLM, places.GATE):
                continue
            if shown["LoadState"] == "not-found":
                yield Wrong(f"{host}: {unit} is not installed", deploy)
            elif shown["ActiveState"] in ("inactive", "failed"):
                how = f"{shown['ActiveState']} ({shown['Result']})"
                yield Wrong(f"{host}: {unit} is {how}", deploy)
            elif shown["ActiveState"] != "active":
                logs = f"glmstead logs {inventory} --unit {unit}"
                yield Wrong(f"{host}: {unit} is {shown['ActiveState']}", logs)
        for unit, said in answer["watch"].items():
            if said["state"].startswith("gave up"):
                yield Wrong(f"{host}: the watch of {unit} {said['state']}", recover)


def _engine_wrong(host: str, answer: dict[str, Any], inventory: str) -> Iterator[Wrong]:
    """Why there is no engine, in one line: the units below it need no line of their own."""
    engine, shown = answer["engine"], answer["units"][places.VLLM]
    failed = engine["failed"] or {"count": 0}
    logs = f"glmstead logs {inventory} --unit {places.VLLM}"
    state = shown["ActiveState"]
    if state in ("inactive", "failed") and failed["count"] >= GAVE_UP_AFTER:
        why = last_error(engine["journal"]) or failed["how"]
        what = f"{host}: the engine gave up after {failed['count']} failed starts in a row ({why})"
        yield Wrong(what, f"{logs}; then glmstead recover {inventory}")
    elif state == "activating":
        again = f", {failed['count']} failed starts before" if failed["count"] else ""
        what = f"{host}: the engine is not ready: {phase(state, engine['journal'])}{again}"
        yield Wrong(what, f"wait: glmstead status {inventory} --watch")
    elif state == "active" and not engine["open"]:
        what = f"{host}: the gateway is closed: the engine has not answered its questions well"
        yield Wrong(what, f"glmstead logs {inventory} --unit {places.GATE}")


def _cells(shown: dict[str, str]) -> tuple[str, str, str]:
    if shown["LoadState"] == "not-found":
        return "not installed", "-", "-"
    state = shown["SubState"] if shown["ActiveState"] == "active" else shown["ActiveState"]
    if shown.get("Result", "success") != "success":
        state = f"{state} ({shown['Result']})"
    return state, shown["StateChangeTimestamp"] or "-", shown["NRestarts"]
