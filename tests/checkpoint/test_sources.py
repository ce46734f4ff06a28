"""A folder or tar of the host as the source: what cannot be taken as it is, is refused in a line."""

import errno
import hashlib
import io
import json
import os
import subprocess
import tarfile
from pathlib import Path

import pytest
from pyinfra.api import FileUploadCommand

from glmstead.checkpoint.listing import CheckpointError, Listing
from glmstead.checkpoint.local import ranges
from glmstead.operations.model_uploads import local_listing, uploads
from glmstead.settings.sections.serving import ModelSettings
from tests.checkpoint.conftest import Host, contents, entry

COMMIT = "a" * 40
FILES = contents(2, 4000)


def stored(root: Path, files: dict[str, bytes]) -> Path:
    root.mkdir()
    for name, content in files.items():
        (root / name).write_bytes(content)
    return root


def tar_of(path: Path, members: dict[str, bytes]) -> Path:
    with tarfile.open(path, "w") as tar:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return path


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE])
def test_a_tar_with_links_is_refused(kind: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model.tar"
    with tarfile.open(path, "w") as tar:
        member = tarfile.TarInfo("a.safetensors")
        member.type, member.linkname = kind, "blobs/0123"
        tar.addfile(member)

    with pytest.raises(
        CheckpointError, match=r"'a\.safetensors' is a link or sparse; fix: pack it"
    ):
        ranges(path)


def test_a_sparse_tar_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    shard = source / "a.safetensors"
    shard.touch()
    os.truncate(shard, 3_000_000)
    path = tmp_path / "model.tar"
    subprocess.run(["tar", "-S", "-C", str(source), "-cf", str(path), "."], check=True)

    with pytest.raises(CheckpointError, match=r"a\.safetensors' is a link or sparse; fix: pack it"):
        ranges(path)


def test_a_torn_tar_is_refused(tmp_path: Path) -> None:
    path = tar_of(tmp_path / "model.tar", FILES)
    os.truncate(path, 5000)

    with pytest.raises(CheckpointError, match="fix: give a folder or an uncompressed tar"):
        ranges(path)


@pytest.mark.parametrize(
    "name", ["../evil.json", "/tmp/evil.json", ".glmstead/x", "a\nb", "\udcff"]
)
def test_names_that_lead_elsewhere_or_cannot_be_told_are_refused(name: str) -> None:
    files = {"config.json": {"size": 1, "sha256": "0" * 64}, name: {"size": 1, "sha256": "0" * 64}}

    with pytest.raises(CheckpointError, match=r"^tar: refuses the path .*; fix: ") as refused:
        Listing.of({"origin": "tar", "files": files})
    assert "\n" not in str(refused.value)
    str(refused.value).encode()


def test_a_source_that_is_on_another_host_is_no_fault(tmp_path: Path) -> None:
    assert ranges(tmp_path / "elsewhere") == {}


def test_a_source_without_a_model_takes_nothing_aside(host: Host, tmp_path: Path) -> None:
    shard = host.folder.root / "model.safetensors"
    shard.write_bytes(b"served")
    source = stored(tmp_path / "source", {"notes.txt": b"x"})
    run = host.place(
        host.request(None, COMMIT, origin="new", local=str(source), files=["*.safetensors"])
    )

    assert run.stderr == f"{source}: none of its files is asked for; fix: check model_files\n"
    assert shard.read_bytes() == b"served"


def test_a_source_that_is_not_what_its_manifest_says_is_refused(host: Host, tmp_path: Path) -> None:
    source = stored(tmp_path / "source", FILES)
    digest = hashlib.sha256(b"another").hexdigest()
    wrong = {"config.json": {"size": len(FILES["config.json"]), "sha256": digest, "git": ""}}
    (source / ".glmstead").mkdir()
    (source / ".glmstead" / "manifest.json").write_text(json.dumps({"origin": "o", "files": wrong}))
    run = host.place(host.request(None, COMMIT, origin="folder", local=str(source)))

    assert run.returncode == 1
    assert run.stderr == (
        "config.json: local: wrong content, 3 times; fix: mend what lies in model_directory\n"
    )


def test_a_disk_that_takes_no_more_ends_the_run_with_a_line(host: Host, tmp_path: Path) -> None:
    source = stored(tmp_path / "source", FILES)
    shard = entry("model-00001-of-00002.safetensors", FILES["model-00001-of-00002.safetensors"])
    part = host.folder.part(shard)
    part.parent.mkdir(parents=True)
    part.symlink_to("/dev/full")
    run = host.place(host.request(None, COMMIT, origin="folder", local=str(source)))

    assert run.returncode == 1
    assert run.stderr.startswith(f"{host.folder.root}: model-00001-of-00002.safetensors: local: ")
    assert os.strerror(errno.ENOSPC) in run.stderr
    assert run.stderr.endswith(
        "; fix: free space, or make it writable, then run this again: it resumes\n"
    )
    assert run.stderr.count("\n") == 1


@pytest.mark.parametrize("top", ["", "./", "./GLM/"])
def test_a_tar_of_the_controller_sends_the_file_that_is_meant(top: str, tmp_path: Path) -> None:
    members = {f"{top}old/config.json": b'{"a": "other"}', f"{top}config.json": b"{}"}
    path = tar_of(tmp_path / "model.tar", members)
    model = ModelSettings(name="m", size_gb=1, source="controller", directory=str(path))
    listing = local_listing(model)
    sent = {
        Path(command.dest).name: command.src.read()
        for command in uploads(model, listing, {"verified": {}})
        if isinstance(command, FileUploadCommand) and not isinstance(command.src, str)
    }

    assert set(listing.files) == {"config.json", "old/config.json"}
    assert {name: hashlib.sha256(content).hexdigest() for name, content in sent.items()} == {
        f"{one.key}.new": one.key for one in listing.files.values()
    }
