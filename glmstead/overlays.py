"""Files of a change that no release holds: pinned by a list, read from a source of the site.

We ship none of them. A list, ``files/overlays/NAME.json`` or in a folder of the site's own, says
which commit they are of and what each must hash to; the files themselves come from a folder or an
https address that the site chooses.
"""

import ast
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

from glmstead import ROOT

# What patches call in them; a file of another shape would fail at the first request only.
SURFACE = {
    "mqa_logits_triton.py": ("fp8_mqa_logits_triton", "fp8_paged_mqa_logits_triton"),
    "triton_mla_sparse.py": ("TritonMLASparseBackend",),
}
# Files of the change that vLLM has of its own, in another release's text: never copied.
NEVER = ("registry.py", "cuda.py", "sparse_attn_indexer.py", "indexer.py", "deep_gemm.py")


class OverlayError(Exception):
    """Why an overlay cannot be used, in one line with the fix."""


@dataclass(frozen=True)
class Overlay:
    """The pinned list: commit, and sha256 by path below site-packages."""

    name: str
    commit: str
    files: Mapping[str, str]


def list_path(name: str, folder: str) -> Path:
    """Where the list of an overlay lies; a relative folder is the project's."""
    return ROOT / folder / f"{name}.json"


def load_overlay(name: str, folder: str) -> Overlay:
    """Return the list of an overlay; raises OverlayError where it is missing or broken."""
    path = list_path(name, folder)
    try:
        document = json.loads(path.read_text())
        return Overlay(name, str(document["commit"]), dict(document["files"]))
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise OverlayError(f"{path.name}: {error}; fix: glmstead overlay {name} ...") from error


@cache
def overlay_texts(overlay_name: str, folder: str, source: str) -> dict[str, str]:
    """Return the text of every file, checked; raises OverlayError for one that is not as pinned."""
    overlay = load_overlay(overlay_name, folder)
    texts = {}
    for path, wanted in overlay.files.items():
        data = read_source(source, path)
        found = sha256(data).hexdigest()
        if found != wanted:
            raise OverlayError(
                f"{source}: {path} is {found[:12]}, not {wanted[:12]} as in "
                f"{folder}/{overlay_name}.json (commit {overlay.commit[:12]}); "
                "fix: give that commit's files"
            )
        texts[path] = data.decode()
    return texts


def read_source(source: str, path: str) -> bytes:
    """Return one file of a source; raises OverlayError where it cannot be had."""
    import httpx  # a tenth of a second, for settings that never ask for it

    try:
        if source.startswith(("https://", "http://")):
            with httpx.Client(follow_redirects=True, timeout=60) as client:
                return client.get(f"{source.rstrip('/')}/{path}").raise_for_status().content
        return (ROOT / source / path).read_bytes()
    except (OSError, httpx.HTTPError) as error:
        raise OverlayError(f"{source}: {path}: {error}; fix: set overlay_source") from error


def made(name: str, source: str, commit: str, paths: list[str]) -> Overlay:
    """Return the list for what lies in a source now; raises OverlayError for files of no use."""
    files = {}
    for path in paths:
        if Path(path).name in NEVER:
            raise OverlayError(
                f"{path}: vLLM has this file itself, and the change's text of it is another "
                "release's: patches merge it; fix: leave it out"
            )
        data = read_source(source, path)
        lacking = _lacking(path, data)
        if lacking:
            raise OverlayError(f"{path}: no {', '.join(lacking)} in it; fix: choose another commit")
        files[path] = sha256(data).hexdigest()
    return Overlay(name, commit, files)


def _lacking(path: str, data: bytes) -> list[str]:
    try:
        tree = ast.parse(data)
    except SyntaxError as error:
        raise OverlayError(f"{path}: no Python: {error.msg} in line {error.lineno}") from error
    named = (ast.FunctionDef, ast.ClassDef)
    names = {node.name for node in tree.body if isinstance(node, named)}
    return [name for name in SURFACE.get(Path(path).name, ()) if name not in names]
