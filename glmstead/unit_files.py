"""A unit with the list of its inputs: what a change of must restart it."""

from typing import Any

from glmstead import places
from glmstead.operations.managed_files import ManagedFile
from glmstead.render import render
from glmstead.settings import Settings


def unit_file(
    unit: str, inputs: list[str], template: str | None = None, **values: Any
) -> list[ManagedFile]:
    """The unit and its inputs list, which names the unit and the list themselves too.

    ``template``: of templates/systemd, where it is not the unit's own name.
    """
    path, listing = f"{places.UNITS}/{unit}.service", f"{places.CONFIG}/inputs/{unit}"
    text = render(f"systemd/{template or unit}.service.j2", unit=unit, **values)
    lines = "".join(f"{one}\n" for one in [path, listing, *inputs])
    return [ManagedFile(listing, lines), ManagedFile(path, text)]


def engine_inputs(settings: Settings) -> list[str]:
    """What Ray and vLLM both depend on: environment, installed lock, patched sources."""
    inputs = [places.ENGINE_ENV, f"{settings.engine.root}/glmstead.lock", places.PATCHES]
    return [*inputs, *([places.NCCL_ENV] if settings.gpu.count else [])]
