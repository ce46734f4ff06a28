"""Fetches with the real client from a hub that fails in every known way."""

import hashlib
import io
import json
import os
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from glmstead.checkpoint import hub_process, transfer
from glmstead.checkpoint.hub_process import XET_CAP
from glmstead.checkpoint.listing import CheckpointError, Entry, read_json
from glmstead.checkpoint.place import place, request_of
from tests.checkpoint.conftest import Host, contents
from tests.checkpoint.hub_server import Fault, Hub

COMMIT, LATER = "a" * 40, "b" * 40
SHARD = "model-00002-of-00004.safetensors"
SIZE = 200_000


@pytest.fixture
def files() -> dict[str, bytes]:
    return contents(4, SIZE)


@pytest.fixture
def hub(files: dict[str, bytes]) -> Iterator[Hub]:
    server = Hub({COMMIT: files})
    yield server
    server.shutdown()


def test_a_checkpoint_is_fetched_verified_and_left_alone(
    host: Host, hub: Hub, files: dict[str, bytes]
) -> None:
    first = host.place(host.request(hub, COMMIT))
    sent = hub.total
    second = host.place(host.request(None, COMMIT))

    assert first.returncode == 0, first.stderr
    assert first.stdout.splitlines()[-1] == f"owner/model@{COMMIT}: 6 files, 800 kB, verified"
    assert host.holds(files)
    assert sent == sum(len(content) for content in files.values())
    assert second.returncode == 0, second.stderr
    assert hub.total == sent
    assert sorted(path.name for path in (host.folder.root / ".glmstead").iterdir()) == [
        *("listing.json", "lock", "manifest.json", "verified.json")
    ]
    assert os.system(f"sha256sum --check --quiet {host.folder.root.parent}/model.sha256") == 0


def test_only_what_the_route_needs_is_fetched(host: Host, hub: Hub) -> None:
    hub.revisions[COMMIT]["README.md"] = b"long"
    hub.revisions[COMMIT]["original/model.pth"] = b"x" * 9
    host.place(host.request(hub, COMMIT, files=["*.safetensors", "*.json"]))

    assert not (host.folder.root / "README.md").exists()
    assert not (host.folder.root / "original").exists()
    assert hub.sent["README.md"] == 0


LARGE = 24_000_000  # the client writes every 10,485,760 bytes: what it has beyond comes again


@pytest.mark.parametrize(
    ("faults", "sent"),
    [
        ([Fault("busy"), Fault("busy")], LARGE),
        (
            [Fault("cut", 22_000_000), Fault("cut", 1_000_000)],
            LARGE + 22_000_000 - 20_971_520 + 1_000_000,
        ),
        ([Fault("stall", 22_000_000)], LARGE + 22_000_000 - 20_971_520),
        ([Fault("wrong")], 2 * LARGE),
    ],
    ids=["asked to wait", "cut twice", "stalled", "wrong bytes of the right size"],
)
def test_a_bad_download_is_mended_at_the_least_cost(
    host: Host, hub: Hub, files: dict[str, bytes], faults: list[Fault], sent: int
) -> None:
    hub.revisions[COMMIT] = {**files, SHARD: bytes(range(240)) * (LARGE // 240)}
    hub.faults[SHARD] = faults
    request = host.request(hub, COMMIT)
    request["hub"]["stall_s"] = 8 if faults[0].kind == "stall" else 60
    run = host.place(request)

    assert run.returncode == 0, run.stdout + run.stderr
    assert host.holds(hub.revisions[COMMIT])
    assert hub.sent[SHARD] == sent
    assert hub.sent["model-00001-of-00004.safetensors"] == SIZE


def test_wrong_bytes_every_time_are_refused(host: Host, hub: Hub) -> None:
    hub.faults[SHARD] = [Fault("wrong")] * 5
    run = host.place(host.request(hub, COMMIT))

    assert run.returncode == 1
    assert run.stderr == (
        f"{SHARD}: hub: wrong content, 3 times; "
        "fix: check model_endpoint and model_revision, or set model_xet to False\n"
    )
    assert not (host.folder.root / SHARD).exists()
    assert not host.folder.manifest.exists()


def test_a_silent_xet_store_is_left_for_plain_http(
    host: Host, hub: Hub, files: dict[str, bytes]
) -> None:
    hub.xet = True
    request = host.request(hub, COMMIT)
    request["hub"] |= {"xet": True, "stall_s": 1}
    run = host.place(request)

    assert run.returncode == 0, run.stdout + run.stderr
    assert "no bytes for 1 s with Xet; plain HTTP from here on" in run.stdout
    assert host.holds(files)


def test_the_pinned_xet_knows_the_caps_of_small_hosts(hub_python: Path) -> None:
    (library,) = hub_python.parents[1].glob("lib/python3*/site-packages/hf_xet/*.so")
    content = library.read_bytes()

    assert [name for name in XET_CAP if name.encode() not in content] == []


def test_a_hub_that_is_silent_for_ever_is_given_up_with_a_line(host: Host, hub: Hub) -> None:
    for name in hub.revisions[COMMIT]:
        hub.faults[name] = [Fault("stall", after=0)] * 40
    request = host.request(hub, COMMIT)
    request["hub"]["stall_s"] = 0.2
    run = host.place(request)

    assert run.returncode == 1
    assert "restarts; fix: check the network and model_endpoint" in run.stderr


def test_a_stall_that_outlasts_the_wait_for_other_hosts_is_restarted(
    host: Host, hub: Hub, files: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As by default: model_stall_s is 60, and hosts without a source give up after 30."""
    monkeypatch.setattr(transfer, "_LONELY_S", 0.1)
    for name in hub.revisions[COMMIT]:
        hub.faults[name] = [Fault("stall", after=0)]
    request = host.request(hub, COMMIT)
    request["hub"]["stall_s"] = 1
    place(request_of(json.dumps(request)))

    assert host.holds(files)


def test_another_revision_fetches_only_what_changed(
    host: Host, hub: Hub, files: dict[str, bytes]
) -> None:
    host.place(host.request(hub, COMMIT))
    changed = {**files, SHARD: b"new" * 5000}
    hub.revisions[LATER] = changed
    hub.sent.clear()
    run = host.place(host.request(hub, LATER))

    assert run.returncode == 0, run.stderr
    assert dict(hub.sent) == {SHARD: 15_000}
    assert host.holds(changed)
    assert read_json(host.folder.manifest)["origin"] == f"owner/model@{LATER}"


def test_damage_is_set_aside_and_fetched_alone(
    host: Host, hub: Hub, files: dict[str, bytes]
) -> None:
    host.place(host.request(hub, COMMIT))
    hub.sent.clear()
    (host.folder.root / SHARD).write_bytes(b"x" * SIZE)
    (host.folder.root / "model-00003-of-00004.safetensors").rename(host.folder.root / "a.bin")
    run = host.place(host.request(hub, COMMIT))

    assert f"{SHARD}: wrong content" in run.stdout
    assert "a.bin: is model-00003-of-00004.safetensors, renamed" in run.stdout
    assert dict(hub.sent) == {SHARD: SIZE}
    assert host.holds(files)
    assert list(host.folder.aside.iterdir()) == []


def test_a_full_disk_is_told_before_the_first_byte(host: Host, hub: Hub) -> None:
    run = host.place(host.request(hub, COMMIT, reserve_bytes=10**18))

    assert run.returncode == 1
    assert "800 kB to fetch and 1000000000.0 GB reserve" in run.stderr
    assert run.stderr.strip().endswith("fix: free space, or set model_root")
    assert hub.total == 0


def test_the_token_comes_from_its_file_and_is_shown_nowhere(
    host: Host, hub: Hub, files: dict[str, bytes]
) -> None:
    hub.token = "hf_verysecret"
    secret = host.folder.root.parent / "token"
    request = host.request(hub, COMMIT)
    without = host.place(request)
    secret.write_text("hf_verysecret\n")
    request["hub"]["token_file"] = str(secret)
    process = host.start(request)
    seen = ""
    while process.poll() is None:
        seen += os.popen("ps -ww -eo args").read()
        time.sleep(0.05)
    output, errors = process.communicate()

    assert without.returncode == 1
    assert "GatedRepoError" in without.stderr
    assert process.returncode == 0, errors
    assert "glmstead.checkpoint.hub" in seen
    assert "hf_verysecret" not in seen + output + errors + json.dumps(request)
    assert host.holds(files)


@pytest.mark.parametrize("top", ["", "GLM-5.2/"], ids=["bare", "one folder around all"])
def test_a_tar_of_the_host_is_unpacked_verified_and_resumed(
    top: str, host: Host, files: dict[str, bytes]
) -> None:
    archive = host.folder.root.parent / "model.tar"
    with tarfile.open(archive, "w") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(f"{top}{name}")
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    half = host.folder.part(Entry(SIZE, sha256=hashlib.sha256(files[SHARD]).hexdigest()))
    half.parent.mkdir(parents=True)
    half.write_bytes(files[SHARD][: SIZE // 2])  # as a kill leaves it
    request = host.request(None, COMMIT, origin="tar", local=str(archive))
    run = host.place(request)
    archive.unlink()
    again = host.place({**request, "local": None})

    assert run.returncode == 0, run.stdout + run.stderr
    assert host.holds(files)
    assert again.returncode == 0, again.stderr


def test_a_compressed_tar_is_refused_with_the_fix(host: Host, files: dict[str, bytes]) -> None:
    archive = host.folder.root.parent / "model.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.addfile(tarfile.TarInfo("config.json"))
    run = host.place(host.request(None, COMMIT, origin="tar", local=str(archive)))

    assert run.returncode == 1
    assert run.stderr.startswith(f"{archive}: ")
    assert run.stderr.endswith("; fix: give a folder or an uncompressed tar\n")
    assert run.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("status", "line", "fix"),
    [
        (401, "401", "give a token that may read it, GLMSTEAD_HUB_TOKEN"),
        (403, "403", "give a token that may read it, GLMSTEAD_HUB_TOKEN"),
        (404, "404", "check model_repo, model_revision and model_endpoint; a private one needs"),
        (302, "TooManyRedirects", "check the network and model_endpoint, then deploy again"),
        (400, "Bad request", "check the network and model_endpoint, then deploy again"),
    ],
)
def test_a_hub_that_refuses_is_told_in_one_line_with_the_fix(
    status: int, line: str, fix: str, host: Host, hub: Hub
) -> None:
    hub.tree_status = status
    run = host.place(host.request(hub, COMMIT))

    assert run.returncode == 1
    assert run.stderr.startswith(f"owner/model@{COMMIT}: ")
    assert line in run.stderr
    assert f"; fix: {fix}" in run.stderr
    assert run.stderr.count("\n") == 1


def test_a_hub_that_never_answers_is_given_up(
    host: Host, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub_process, "_LISTING_S", 2.0)
    hub.tree_status = 0
    asked = host.request(hub, COMMIT)["hub"] | {"stall_s": 0.1}

    with pytest.raises(CheckpointError, match=r"the hub lists no files within 2\.4 s; fix: check"):
        hub_process.list_files(hub_process.Hub(**asked), host.folder)


def test_an_unknown_revision_is_told_in_one_line(host: Host, hub: Hub) -> None:
    run = host.place(host.request(hub, LATER))

    assert run.returncode == 1
    assert run.stderr.startswith(f"owner/model@{LATER}: RevisionNotFoundError: 404")
    assert run.stderr.count("\n") == 1
