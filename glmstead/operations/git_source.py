"""vLLM from a git checkout: a pinned commit, one picked change, installed without a compiler."""

from collections.abc import Generator, Sequence
from typing import Any

from pyinfra import host
from pyinfra.api import QuoteString, StringCommand, operation

from glmstead.facts.git_source import GitSource
from glmstead.operations.environments import UV_ROOT, UV_SETTINGS, Sources
from glmstead.operations.units import made_stale
from glmstead.probes import probe_command
from glmstead.settings import Settings

Commands = Generator[StringCommand, None, None]


def request_of(settings: Settings, make: bool = False) -> dict[str, Any]:
    """What the program on the host is asked."""
    git = settings.git.model_dump(mode="json")
    return {**git, "make": make, "python": f"{settings.engine.root}/bin/python"}


@operation()
def checked_out(settings: Settings, units: Sequence[str] = ()) -> Commands:
    """
    Ensure the checkout holds the pinned commit with the pinned change, by rule and checked.

    + settings: of this host
    + units: services that run from it, so that they restart even if the run is killed
    """
    found = host.get_fact(GitSource, request=request_of(settings))
    wanted = request_of(settings)
    names = ("url", "commit", "pick_ref", "pick_commit", "drop", "ours", "only")
    if found["made_of"] == {name: wanted[name] for name in names}:
        host.noop(f"{settings.git.root} is at {found['head'][:12]}")
        return
    yield from made_stale(units)
    yield probe_command("git_source", request_of(settings, make=True))


@operation()
def installed(settings: Settings, sources: Sources) -> Commands:
    """
    Ensure the environment runs from the checkout, over the extensions of the released wheel.

    + settings: of this host
    + sources: where the wheel and the build's needs come from
    """
    found = host.get_fact(GitSource, request=request_of(settings))
    if found["installed"] == settings.git.root:
        host.noop(f"runs from {settings.git.root}")
        return
    version = settings.engine.version
    yield StringCommand(
        *("VLLM_USE_PRECOMPILED=1", f"VLLM_PRECOMPILED_WHEEL_COMMIT={settings.git.commit}"),
        f"SETUPTOOLS_SCM_PRETEND_VERSION_FOR_VLLM={version}",
        *(UV_SETTINGS, f"{UV_ROOT}/bin/uv"),
        *("pip install --quiet --no-deps --python", f"{settings.engine.root}/bin/python"),
        *(*sources.arguments(), "--editable", QuoteString(settings.git.root)),
    )
