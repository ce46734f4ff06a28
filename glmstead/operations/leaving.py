"""A host that changes its route loses what the old one installed, and nothing else."""

from collections.abc import Generator
from typing import Any

from pyinfra import host
from pyinfra.api import QuoteString, StringCommand, operation

from glmstead import places
from glmstead.facts.leftovers import Leftovers
from glmstead.leaving import leaving, question
from glmstead.settings import Settings

Commands = Generator[StringCommand, None, None]


@operation()
def left(settings: Settings, image: str | None) -> Commands:
    """
    Stop and remove what belongs to another kind of engine: before this one is installed.

    + settings: of this host
    + image: the image that this route runs; None: no image
    """
    found = leaving(host.get_fact(Leftovers, request=question(settings)), settings, image)
    if found.nothing:
        host.noop("nothing of another route")
        return
    if found.stop:  # each by its own unit's ExecStop, which still lies there
        yield StringCommand("systemctl stop", *(QuoteString(unit) for unit in found.stop))
    if found.containers:
        ids = [QuoteString(one) for one in found.containers]
        yield StringCommand("docker rm --force", *ids, ">/dev/null")
    if found.units:
        units = [QuoteString(unit) for unit in found.units]
        files = [QuoteString(f"{places.UNITS}/{unit}") for unit in found.units]
        yield StringCommand(
            *("systemctl disable --quiet", *units, "2>/dev/null; rm -f", *files),
            "&& systemctl daemon-reload && systemctl reset-failed",
        )
    for image_reference in found.images:
        reference = QuoteString(image_reference)
        yield StringCommand(
            "! docker image inspect", reference, ">/dev/null 2>&1 || docker rmi --force", reference
        )
    if found.images:
        yield StringCommand("rm -f", places.IMAGE_LIST)
    if found.paths:
        yield StringCommand("rm -rf", *(QuoteString(path) for path in found.paths))


@operation()
def images_kept(image: str) -> Commands:
    """
    Remove images that earlier deploys placed, once the one that is wanted serves.

    + image: what the unit runs
    """
    found = host.get_fact(Leftovers, request=_ASK_IMAGES)["images"]
    if found == [image]:
        host.noop("no other image of ours")
        return
    for old in found:
        if old != image:
            reference = QuoteString(old)
            yield StringCommand(
                *("! docker image inspect", reference, ">/dev/null 2>&1"),
                *("|| docker rmi --force", reference, ">/dev/null"),
            )
    yield StringCommand("printf '%s\\n'", QuoteString(image), ">", places.IMAGE_LIST)


_ASK_IMAGES: dict[str, Any] = {
    "units": [],
    "unit_folder": places.UNITS,
    "server_unit": "/nonexistent",
    "paths": [],
    "overlay": None,
    "images": places.IMAGE_LIST,
    "container": places.VLLM,
}
