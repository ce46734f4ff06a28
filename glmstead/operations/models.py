"""The checkpoint on a host: placed whole, verified by hash, fit to be served."""

from collections.abc import Generator
from functools import cache
from hashlib import sha256
from pathlib import Path

from pyinfra import host
from pyinfra.api import FileUploadCommand, QuoteString, StringCommand, operation

from glmstead import places
from glmstead.facts.files import FileStates
from glmstead.facts.model import ModelState
from glmstead.layer_map import serving_problems
from glmstead.operations.managed_files import ManagedFile, managed_files
from glmstead.operations.refusal import refuse

Commands = Generator[StringCommand | FileUploadCommand, None, None]


@cache
def digests(directory: Path) -> dict[str, str]:
    """``{name: sha256}`` of the files of a local checkpoint."""
    return {
        path.name: sha256(path.read_bytes()).hexdigest()
        for path in sorted(directory.iterdir())
        if path.is_file()
    }


def manifest(path: str, wanted: dict[str, str]) -> ManagedFile:
    """The checkpoint's hashes as ``sha256sum --check`` reads them."""
    lines = "".join(f"{digest}  {path}/{name}\n" for name, digest in wanted.items())
    return ManagedFile(places.MODEL_MANIFEST, lines)


@operation()
def from_controller(directory: Path, path: str) -> Commands:
    """
    Ensure a checkpoint's files equal those of a local directory; each is renamed into place.

    + directory: on this machine
    + path: on the host
    """
    wanted = digests(directory)
    states = host.get_fact(FileStates, paths=[f"{path}/{name}" for name in wanted])
    missing = [n for n, digest in wanted.items() if (states[f"{path}/{n}"] or [""])[0] != digest]
    if missing:
        yield StringCommand("mkdir -p", QuoteString(path))
    for name in missing:
        new, final = f"{path}/{name}.new", f"{path}/{name}"
        yield FileUploadCommand(str(directory / name), new)
        yield StringCommand("chmod 644", QuoteString(new), "&& mv", QuoteString(new), final)
    yield from managed_files._inner(files=[manifest(path, wanted)])


@operation()
def from_hub(python: str, repo: str, revision: str, path: str) -> Commands:
    """
    Ensure a checkpoint is the pinned revision of a hub repository; a killed fetch is resumed.

    + python: interpreter whose environment holds huggingface_hub
    + repo: ``owner/name``
    + revision: commit hash
    + path: on the host
    """
    done = ManagedFile(places.MODEL_MANIFEST, f"{repo}@{revision} {path}\n")
    states = host.get_fact(FileStates, paths=[done.path])
    if states[done.path] != done.state:
        fetch = "from huggingface_hub.cli.hf import main; main()"
        yield StringCommand(
            *(QuoteString(python), "-c", QuoteString(fetch), "download", QuoteString(repo)),
            *("--revision", QuoteString(revision), "--local-dir", QuoteString(path), "--quiet"),
        )
    yield from managed_files._inner(files=[done])


@operation()
def servable(path: str, vllm_version: str) -> Commands:
    """
    Refuse a checkpoint that vLLM would not load, or would serve wrongly.

    + path: on the host
    + vllm_version: the pinned release
    """
    state = host.get_fact(ModelState, path=path)
    if not state["files"]:
        host.noop("not placed yet")
        return
    lines = serving_problems(state["config"], state["index"], state["files"])
    if lines:
        yield refuse(f"{path}: {'; '.join(lines)}")
    else:
        host.noop("fit to be served")
