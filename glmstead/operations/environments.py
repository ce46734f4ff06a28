"""Python environments that hold exactly what a lock pins, extras included.

pip.packages and uv.packages drop extras (pyinfra-dev/pyinfra#1793) and cannot require hashes.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from pyinfra import host
from pyinfra.api import QuoteString, StringCommand, operation

from glmstead.facts.environment import EnvironmentState
from glmstead.lock import lock_path, pins
from glmstead.operations.refusal import refuse
from glmstead.operations.turns import in_turn
from glmstead.operations.units import made_stale, peer

Commands = Generator[StringCommand, None, None]
_BASE = "/opt/glmstead"
UV_ROOT = f"{_BASE}/uv"
UV_SETTINGS = "UV_CACHE_DIR=/var/cache/glmstead-uv UV_SYSTEM_CERTS=1 UV_NO_CONFIG=1"
_WAIT_S = 1800  # a whole engine over a slow line


@dataclass(frozen=True)
class Sources:
    """Where distributions come from; ``offline`` means ``find_links`` alone."""

    index_url: str | None = None
    extra_index_urls: tuple[str, ...] = ()
    find_links: tuple[str, ...] = ()
    offline: bool = False

    def arguments(self) -> list[str | QuoteString]:
        """Arguments that pip and uv share."""
        words: list[str | QuoteString] = ["--no-index"] if self.offline else []
        if self.index_url is not None:
            words += ["--index-url", QuoteString(self.index_url)]
        for url in self.extra_index_urls:
            words += ["--extra-index-url", QuoteString(url)]
        for place in self.find_links:
            words += ["--find-links", QuoteString(place)]
        return words


def differences(
    state: dict[str, Any], lock: str, python: str, beside: Sequence[str] = ()
) -> list[str]:
    """What an environment lacks, or has beyond its lock; empty when it is as locked."""
    if state["python"] is None:
        return ["no environment"]
    wanted, found = pins(lock, python), state["versions"]
    names = sorted({*wanted, *found} - {"pip", *beside})
    wrong = [
        f"{name} {found.get(name, 'absent')} instead of {wanted.get(name, 'absent')}"
        for name in names
        if found.get(name) != wanted.get(name)
    ]
    if not wrong and state["lock"] != sha256(lock.encode()).hexdigest():
        return ["installed from another lock"]
    return wrong


def bootstrap_uv(sources: Sources) -> Commands:
    """Put the locked uv into an environment of its own."""
    lock = lock_path("uv").read_text()
    release = pins(lock, "3.11")["uv"]
    uv = f"{UV_ROOT}/bin/uv"
    yield in_turn(
        _BASE,
        *('test "$(', uv, "--version 2>/dev/null | cut -d' ' -f2)\" =", QuoteString(release)),
        *("|| { python3 -m venv --clear", UV_ROOT, "&&", f"{UV_ROOT}/bin/pip", "install --quiet"),
        *("--disable-pip-version-check --require-hashes", *sources.arguments(), "-r /dev/stdin; }"),
        wait_s=_WAIT_S,
        _stdin=lock,
    )


def install(root: str, lock: str, python: str, sources: Sources) -> Commands:
    """Make ``root`` hold exactly the lock; the copied lock marks a finished install."""
    uv, copy = f"{UV_ROOT}/bin/uv", QuoteString(f"{root}/glmstead.lock.new")
    interpreter = QuoteString(f"{root}/bin/python")
    yield in_turn(
        _BASE,
        f"export {UV_SETTINGS};",
        *(interpreter, "-c '' 2>/dev/null ||", uv, "venv --quiet --clear --python"),
        *(QuoteString(python), QuoteString(root), "&& cat >", copy, "&&"),
        *(uv, "pip sync --quiet --require-hashes --compile-bytecode"),
        *("--index-strategy unsafe-best-match --python", interpreter),
        # uv leaves its lock writable by everybody
        *(*sources.arguments(), copy, "&& rm -f", QuoteString(f"{root}/.lock")),
        *("&& mv", copy, QuoteString(f"{root}/glmstead.lock")),
        wait_s=_WAIT_S,
        _stdin=lock,
    )


@operation()
def locked(
    root: str,
    lock: str,
    python: str,
    sources: Sources,
    units: Sequence[str] = (),
    beside: Sequence[str] = (),
) -> Commands:
    """
    Ensure a virtual environment holds exactly what a lock pins, with every hash checked.

    + root: directory of the environment, owned by root
    + lock: text of the hash-locked requirements
    + python: Python minor version, as in ``3.11``
    + sources: where the distributions come from
    + units: services that run from it, so that they restart even if the run is killed
    + beside: packages that come from elsewhere, and are not the lock's affair
    """
    state = host.get_fact(EnvironmentState, root=root)
    wrong = differences(state, lock, python, beside)
    if not wrong:
        host.noop(f"{root} is as locked")
        return
    yield from made_stale(units)
    yield from bootstrap_uv(sources)
    yield from install(root, lock, python, sources)


def disagreements(mine: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """What two environments of one cluster differ in: Python to the patch level, every release.

    Ray refuses or misbehaves over patch levels: ray-project/ray#44063.
    """
    lines = []
    if mine["python"] != other["python"]:
        lines.append(f"Python {mine['python']} here, {other['python']} there")
    names = sorted({*mine["versions"], *other["versions"]})
    for name in names:
        here, there = mine["versions"].get(name), other["versions"].get(name)
        if here != there:
            lines.append(f"{name} {here} here, {there} there")
    return lines


@operation()
def same_as(other: str, root: str) -> Commands:
    """
    Refuse when this host's environment differs from another host's.

    + other: name of the host to compare with
    + root: directory of the environment on both
    """
    here = host.get_fact(EnvironmentState, root=root)
    if other == host.name or here["python"] is None:
        host.noop("nothing to compare")
        return
    lines = disagreements(here, peer(other).get_fact(EnvironmentState, root=root))
    if lines:
        yield refuse(
            f"{host.name} and {other} differ in {root}: {'; '.join(lines[:5])}; "
            "fix: deploy both hosts together, without --limit"
        )
    else:
        host.noop(f"same as on {other}")
