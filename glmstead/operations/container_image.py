"""The engine's image: pulled by digest, loaded from a checked tar, or built; never by a tag alone."""

from collections.abc import Generator
from pathlib import Path

from pyinfra import host
from pyinfra.api import FileUploadCommand, QuoteString, StringCommand, operation

from glmstead import ROOT, places
from glmstead.containers import image_reference
from glmstead.facts.files import FileStates
from glmstead.facts.image import ImageState
from glmstead.image_build import Build
from glmstead.operations.managed_files import ManagedFile, write_command
from glmstead.settings import Settings

Commands = Generator[StringCommand | FileUploadCommand, None, None]
_TAR = f"{places.CACHE}/image.tar"


def image_id(reference: str) -> str | None:
    """Id of an image on this host, None where it is absent or Docker does not run."""
    found = host.get_fact(ImageState, references=[reference])
    known: str | None = found["images"][reference]
    return known


@operation()
def pulled(settings: Settings) -> Commands:
    """
    Ensure the image of the declared digest is on the host.

    + settings: of this host
    """
    reference = image_reference(settings)
    if image_id(reference) is not None:
        host.noop(f"{reference} is here")
        return
    # A digest the registry does not have is refused there; one that differs cannot be stored.
    yield StringCommand("docker pull --quiet", QuoteString(reference))


@operation()
def loaded(settings: Settings) -> Commands:
    """
    Ensure the image of a tar on this machine is on the host, checked again on arrival.

    + settings: of this host
    """
    image = settings.image
    digest, checksum = str(image.digest), str(image.archive_sha256)
    if image_id(digest) is not None:
        host.noop(f"{digest} is here")
        return
    archive = ROOT / str(image.archive)
    yield StringCommand("mkdir -p", places.CACHE)
    yield FileUploadCommand(str(archive), _TAR)
    wrong = f"image_archive {archive.name} is not the tar of image_archive_sha256"
    other = f"image_archive {archive.name} holds another image than image_digest {digest}"
    tar = QuoteString(_TAR)
    yield StringCommand(
        *("trap 'rm -f", _TAR, "' EXIT;"),
        *("echo", QuoteString(f"{checksum}  {_TAR}"), "| sha256sum --check --status ||"),
        *("{ echo", QuoteString(wrong), ">&2; exit 1; };"),
        *("docker load --quiet --input", tar, "&&", "{ docker image inspect"),
        *(QuoteString(digest), ">/dev/null 2>&1 ||"),
        *("{ echo", QuoteString(other), ">&2; exit 1; }; }"),
    )


@operation()
def built(build: Build) -> Commands:
    """
    Ensure the image of a build's content is on the host, patched and verified inside the build.

    + build: base image, files and steps
    """
    found = host.get_fact(ImageState, references=[build.reference, build.base])["images"]
    if found[build.reference] is not None:
        host.noop(f"{build.reference} is here")
        return
    tar = tar_of(build)
    if host.get_fact(FileStates, paths=[f"{tar}.json"])[f"{tar}.json"] is not None:
        # built before, and left with another route: the same image, not another one of its kind
        yield StringCommand("docker load --quiet --input", QuoteString(tar))
        return
    folder = f"{places.CACHE}/build"
    yield StringCommand("rm -rf", folder)
    for name, text in build.files.items():
        yield write_command(ManagedFile(f"{folder}/{name}", text))
    if found[build.base] is None:
        yield StringCommand("docker pull --quiet", QuoteString(build.base))
    yield StringCommand(
        *("docker build --quiet --force-rm --network=host --tag", QuoteString(build.reference)),
        *(folder, "&& rm -rf", folder),
    )


def tar_of(build: Build) -> str:
    """Where a built image lies as a tar, for hosts without a registry."""
    return f"{places.IMAGES}/{build.reference.replace('/', '-').replace(':', '-')}.tar"


@operation()
def saved(build: Build) -> Commands:
    """
    Ensure a built image also lies as a tar with its checksum and id, for hosts without a registry;
    tars of its earlier builds go.

    + build: what was built
    """
    tar = tar_of(build)
    if host.get_fact(FileStates, paths=[f"{tar}.json"])[f"{tar}.json"] is not None:
        host.noop(f"{tar} is here")
        return
    new, path, document = (QuoteString(f"{tar}{end}") for end in (".new", "", ".json"))
    reference, form = QuoteString(build.reference), QuoteString("{{.Id}}")
    text = QuoteString('{"image_archive_sha256": "%s", "image_digest": "%s"}\n')
    content = build.reference.rpartition(":")[2]
    every = QuoteString(Path(tar).name.replace(content, "?" * len(content)) + "*")
    yield StringCommand(
        *("mkdir -p", places.IMAGES, "&& docker save --output", new, reference),
        *("&& sum=$(sha256sum <", new, "| cut -c1-64)"),
        *("&& id=$(docker image inspect --format", form, reference, ")"),
        *("&& mv", new, path, "&& printf", text, '"$sum" "$id" >', new, "&& mv", new, document),
        *("&& find", places.IMAGES, "-name", every, "! -name", QuoteString(f"*{content}.tar*")),
        "-delete",
    )


def _stamp(sif: str, checksum: str) -> ManagedFile:
    return ManagedFile(f"{sif}.sha256", f"{checksum}\n")


def is_converted(sif: str, checksum: str) -> bool:
    """Whether an Apptainer image on this host is of the tar of that checksum."""
    stamp = _stamp(sif, checksum)
    return bool(host.get_fact(FileStates, paths=[stamp.path])[stamp.path] == stamp.state)


@operation()
def converted(sif: str, archive: Path, checksum: str) -> Commands:
    """
    Ensure a tar of docker save is there as an Apptainer image.

    + sif: where, on the host
    + archive: tar on this machine
    + checksum: its sha256, written beside the image it became
    """
    stamp = _stamp(sif, checksum)
    if is_converted(sif, checksum):
        host.noop(f"{sif} is of that tar")
        return
    yield StringCommand("mkdir -p", places.CACHE, QuoteString(str(Path(sif).parent)))
    yield FileUploadCommand(str(archive), _TAR)
    wrong = f"image_archive {archive.name} is not the tar of image_archive_sha256"
    new = QuoteString(f"{sif}.new")
    yield StringCommand(
        *("trap 'rm -f", _TAR, "' EXIT;"),
        *("echo", QuoteString(f"{checksum}  {_TAR}"), "| sha256sum --check --status ||"),
        *("{ echo", QuoteString(wrong), ">&2; exit 1; };"),
        *("apptainer build --force", new, f"docker-archive:{_TAR}", "&& mv", new, QuoteString(sif)),
    )
    yield write_command(stamp)
