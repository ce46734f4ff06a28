"""The locked Python environments: they hold what is declared, from where it can be had."""

from collections.abc import Iterator
from functools import cache

from glmstead.lock import lock_path, pins
from glmstead.settings.model import Cluster, Settings
from glmstead.settings.problem import Problem

# Carried a credential stealer in a .pth file: https://github.com/BerriAI/litellm/issues/24512
_MALICIOUS = ("1.82.7", "1.82.8")


def locked_versions(settings: Settings, cluster: Cluster) -> Iterator[Problem]:
    """The lock exists and pins the declared releases."""
    engine, gateway = settings.engine, settings.gateway
    ours = {"version": engine.package} if engine.source == "lock" else {}
    ray = {"ray_version": "ray"} if engine.ray_version is not None else {}
    for section, lock, wanted in (
        ("engine", engine.lock, {**ours, **ray}),
        ("gateway", gateway.lock, {"version": "litellm"}),
    ):
        if lock is None or (section == "engine" and engine.kind == "container"):
            continue
        locked = _locked(lock, engine.python)
        if locked is None:
            fix = f"write files/locks/{lock}.in and run scripts/lock {lock}"
            yield Problem(f"{section}_lock", lock, f"there is no files/locks/{lock}.txt", fix)
            continue
        for field, package in wanted.items():
            version = getattr(getattr(settings, section), field)
            yield from _pinned(f"{section}_{field}", package, version, lock, locked)


def malicious_gateway(settings: Settings, cluster: Cluster) -> Iterator[Problem]:
    """Two releases of LiteLLM stole credentials."""
    declared = settings.gateway.version
    locked = (_locked(settings.gateway.lock, settings.engine.python) or {}).get("litellm")
    for version in dict.fromkeys((declared, locked)):
        if version in _MALICIOUS:
            yield Problem("gateway_version", version, "a malicious release", "use another release")


def sources(settings: Settings, cluster: Cluster) -> Iterator[Problem]:
    """Without an index there must be a folder of wheels, and no index."""
    engine = settings.engine
    if engine.offline and not engine.find_links:
        fix = "set engine_find_links to the folder of wheels"
        yield Problem("engine_offline", True, "no index and no folder to install from", fix)
    if engine.offline and (engine.index_url or engine.extra_index_urls):
        key = "engine_index_url" if engine.index_url else "engine_extra_index_urls"
        value = engine.index_url or engine.extra_index_urls
        yield Problem(key, value, "an index, but engine_offline is set", "remove one of the two")
    for link in engine.find_links:
        if not link.startswith(("/", "https://", "http://")):
            fix = "give an absolute folder of the host, or a URL"
            yield Problem("engine_find_links", link, "neither a folder nor a URL", fix)


@cache
def _locked(lock: str, python: str) -> dict[str, str] | None:
    """Return package -> version of a lock, None where there is no such file."""
    path = lock_path(lock)
    return pins(path.read_text(encoding="utf-8"), python) if path.is_file() else None


def _pinned(
    key: str, package: str, version: str, lock: str, locked: dict[str, str]
) -> Iterator[Problem]:
    if package not in locked:
        yield Problem(key, version, f"files/locks/{lock}.txt has no {package}", "use another lock")
    elif locked[package] != version:
        wrong = f"files/locks/{lock}.txt pins {package} {locked[package]}"
        yield Problem(key, version, wrong, f"declare {locked[package]}, or lock {version}")
