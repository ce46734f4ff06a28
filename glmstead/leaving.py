"""What belongs to which kind of engine, and so what a host must lose when it changes; no I/O."""

from dataclasses import dataclass
from typing import Any

from glmstead import places
from glmstead.settings import Settings

_SERVICE = ".service"
RAY_UNITS = (places.RAY_HEAD + _SERVICE, places.RAY_WORKER + _SERVICE)
# By kind: units and paths that only it has. The gateway, models and caches are everybody's.
ONLY: dict[str, tuple[str, ...]] = {
    "units of ray": RAY_UNITS,
    "units of container": (places.ENGINE_SLICE,),
    "paths of ray": (
        places.RAY_TOKEN,
        *(f"{places.CONFIG}/inputs/{unit}" for unit in (places.RAY_HEAD, places.RAY_WORKER)),
    ),
    "paths of bare": (
        places.PATCHES,
        places.VLLM_CONFIG,
        places.TOOLCHAIN,
        places.CUDA_HOME,
    ),
    "paths of measured": (places.NCCL_ENV, places.NCCL_VERDICT),  # under Docker too
    "paths of container": (f"{places.CACHE}/image",),
}


@dataclass(frozen=True)
class Leaving:
    """What to stop, and what to remove, before another kind of engine is put in its place."""

    stop: tuple[str, ...]
    units: tuple[str, ...]
    paths: tuple[str, ...]
    containers: tuple[str, ...]
    images: tuple[str, ...]

    @property
    def nothing(self) -> bool:
        """Whether the host holds nothing of another route."""
        return not (self.stop or self.units or self.paths or self.containers or self.images)


def question(settings: Settings) -> dict[str, Any]:
    """What to ask a host."""
    return {
        "units": [*RAY_UNITS, places.ENGINE_SLICE, places.VLLM + _SERVICE],
        "unit_folder": places.UNITS,
        "server_unit": f"{places.UNITS}/{places.VLLM}{_SERVICE}",
        "paths": [*foreign_paths(settings), *_models(settings)],
        "overlay": None if settings.overlay.name else places.OVERLAY,
        "images": places.IMAGE_LIST,
        "container": places.VLLM,
    }


def foreign_paths(settings: Settings) -> list[str]:
    """Paths that this kind of engine does not have."""
    kind = settings.engine.kind
    paths = [] if kind == "ray" else list(ONLY["paths of ray"])
    if kind == "container":
        paths += [*ONLY["paths of bare"], settings.engine.root]
        if settings.container.runtime == "apptainer" or not settings.gpu.count:
            paths += ONLY["paths of measured"]
    else:
        paths += ONLY["paths of container"]
    if settings.overlay.name is None:
        paths.append(places.OVERLAY_IMPORTED)
    if settings.engine.source != "git":
        paths.append(settings.git.root)
    return paths


def leaving(found: dict[str, Any], settings: Settings, wanted: str | None) -> Leaving:
    """What a host must lose; ``wanted``: the image that this route runs, if any."""
    kind = settings.engine.kind
    units = [unit for unit in RAY_UNITS if kind != "ray" and unit in found["units"]]
    if kind != "container" and places.ENGINE_SLICE in found["units"]:
        units.append(places.ENGINE_SLICE)
    server = places.VLLM + _SERVICE
    other_kind = server in found["units"] and found["in_container"] != (kind == "container")
    from_ray = server in found["units"] and any(unit in RAY_UNITS for unit in units)
    stop = [server] if other_kind or from_ray else []
    paths = list(found["paths"])
    if settings.git.root in paths and settings.engine.root not in paths:
        paths.append(settings.engine.root)  # it runs from the checkout
    return Leaving(
        stop=(*stop, *(unit for unit in units if unit in RAY_UNITS)),
        units=tuple(units),
        paths=tuple(paths),
        containers=tuple(found["containers"]) if kind != "container" else (),
        images=() if wanted else tuple(found["images"]),  # else when the new one serves
    )


def _models(settings: Settings) -> list[str]:
    return [f"{settings.model.root}/{name}" for name in settings.model.absent]
