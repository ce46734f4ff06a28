"""A patched image as a build: its files and the content that names it; no I/O but our own sources."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

from glmstead.patching.catalogue import load_catalogue
from glmstead.patching.program import program_arguments
from glmstead.patching.request import change_request
from glmstead.render import render
from glmstead.settings import Settings

# The request would be too long for a line of the Dockerfile.
_RUN = """\
import json, subprocess, sys
words = json.load(open("/opt/glmstead-build/patch.json"))
run = subprocess.run([sys.executable, *words], stdout=subprocess.PIPE, text=True)
answer = json.loads(run.stdout or "{}")
print("\\n".join(answer.get("refused", [])) or "patched", file=sys.stderr)
sys.exit(1 if run.returncode or answer.get("refused") else 0)
"""
_VERIFY = """\
import importlib, json, sys
for name in json.load(open("/opt/glmstead-build/modules.json")):
    importlib.import_module(name)
    print(name + ": imports", file=sys.stderr)
"""


@dataclass(frozen=True)
class Build:
    """An image to be made: base by digest, context files, and the reference its content gives it."""

    base: str
    reference: str
    files: Mapping[str, str]


def image_build(settings: Settings, overlay: Mapping[str, str]) -> Build:
    """The build of a route; ``overlay``: files to bring, text by path below site-packages."""
    image, tags = settings.image, list(settings.patches.tags)
    modules = [path.removesuffix(".py").replace("/", ".") for path in overlay]
    files = {f"overlay/{path}": text for path, text in overlay.items()}
    files |= {
        "run_patches.py": _RUN,
        "verify.py": _VERIFY,
        "modules.json": json.dumps(modules),
        "patch.json": json.dumps(
            program_arguments(change_request(load_catalogue(), "apply", tags))
        ),
    }
    base = f"{image.base_name}@{image.base_digest}"
    files["Dockerfile"] = render(
        "Dockerfile.j2",
        base=base,
        python=image.python,
        tags=" ".join(tags),
        ray_packages=image.ray_packages,
    )
    return Build(base, f"{image.name}:{content_of(files)}", files)


def content_of(files: Mapping[str, str]) -> str:
    """Twelve hex digits that change with any file of a build."""
    digest = sha256()
    for name, text in sorted(files.items()):
        digest.update(f"{name}\0{text}\0".encode())
    return digest.hexdigest()[:12]
