"""Every kind of damage is named, and nothing is read twice without need."""

import os
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from glmstead import ROOT
from glmstead.checkpoint.edits import correct, restore
from glmstead.checkpoint.hashing import DigestCache
from glmstead.checkpoint.listing import CheckpointError, Folder, Listing, read_json
from glmstead.checkpoint.survey import survey, tidy
from glmstead.checkpoint.verify import complete, known_listing, verified
from glmstead.probes import probe_command
from tests.checkpoint.conftest import ORIGIN, Run, verify_words

SHARD = "model-00002-of-00004.safetensors"
Verify = Callable[..., Run]


def listing_of(folder: Folder) -> Listing:
    listing = known_listing(folder)
    assert listing is not None
    return listing


def test_a_whole_checkpoint_is_as_listed(checkpoint: Folder, verify: Verify) -> None:
    run = verify(checkpoint)

    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines()[-1] == f"{ORIGIN}: 6 of 6 files, 12 kB"


def truncated(root: Path) -> None:
    os.truncate(root / SHARD, 2999)


def corrupted(root: Path) -> None:
    content = bytearray((root / SHARD).read_bytes())
    content[1234] ^= 1
    (root / SHARD).write_bytes(content)


def renamed(root: Path) -> None:
    (root / SHARD).rename(root / "model-2.safetensors")


def extra(root: Path) -> None:
    (root / "model-00005-of-00004.safetensors").write_bytes(b"what is this")


def leftover(root: Path) -> None:
    cache = root / ".cache" / "huggingface" / "download"
    cache.mkdir(parents=True)
    (cache / "Zq1.abc.0123abcd.incomplete").write_bytes(b"half")


def linked(root: Path) -> None:
    (root / "more.safetensors").symlink_to(root / SHARD)


def oddly_named(root: Path) -> None:
    Path(os.fsdecode(os.fsencode(root) + b"/\xff.bin")).write_bytes(b"x")


def missing(root: Path) -> None:
    (root / SHARD).unlink()


DAMAGE = {
    truncated: f"{SHARD}: truncated, 2999 of 3000 bytes",
    corrupted: f"{SHARD}: wrong content",
    renamed: f"model-2.safetensors: is {SHARD}, renamed",
    extra: "model-00005-of-00004.safetensors: not of this checkpoint",
    leftover: ".cache/huggingface/download/Zq1.abc.0123abcd.incomplete: left by a killed download",
    linked: "more.safetensors: not of this checkpoint",
    oddly_named: r"\udcff.bin: not of this checkpoint",
    missing: f"{SHARD}: missing",
}


@pytest.mark.parametrize(
    ("damage", "line"), DAMAGE.items(), ids=lambda x: getattr(x, "__name__", "")
)
@pytest.mark.parametrize("before", [True, False], ids=["verified before", "never verified"])
def test_damage_is_named(
    damage: Callable[[Path], None],
    line: str,
    before: bool,
    checkpoint: Folder,
    verify: Verify,
) -> None:
    if before:
        verify(checkpoint)
    damage(checkpoint.root)
    run = verify(checkpoint)

    assert run.returncode == 1
    assert run.stderr.splitlines() == [line]


def test_a_second_look_reads_nothing(checkpoint: Folder) -> None:
    read: list[int] = []
    listing = listing_of(checkpoint)
    survey(checkpoint, listing, DigestCache(checkpoint), read.append)
    first = sum(read)
    again = survey(checkpoint, listing, DigestCache(checkpoint), read.append)

    assert first == 12000 + 47 + 257
    assert sum(read) == first
    assert len(again.good) == 6


def test_damage_behind_the_back_of_size_and_mtime_is_found_by_a_deep_look(
    checkpoint: Folder, verify: Verify
) -> None:
    verify(checkpoint)
    status = (checkpoint.root / SHARD).stat()
    with (checkpoint.root / SHARD).open("r+b") as stream:
        stream.write(b"damage")
    os.utime(checkpoint.root / SHARD, ns=(status.st_atime_ns, status.st_mtime_ns))

    assert verify(checkpoint).returncode == 0
    assert verify(checkpoint, "--deep").stderr == f"{SHARD}: wrong content\n"
    assert verify(checkpoint).stderr == f"{SHARD}: wrong content\n"


def test_a_replaced_file_of_the_same_size_and_mtime_is_read_again(
    checkpoint: Folder, verify: Verify
) -> None:
    verify(checkpoint)
    status = (checkpoint.root / SHARD).stat()
    other = checkpoint.root / "other"
    other.write_bytes(b"x" * 3000)
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    other.replace(checkpoint.root / SHARD)

    assert verify(checkpoint).stderr == f"{SHARD}: wrong content\n"


def test_tidying_takes_bad_and_foreign_weights_out_of_the_loaders_sight(
    checkpoint: Folder,
) -> None:
    root = checkpoint.root
    (root / "model-00001-of-00004.safetensors").rename(root / "model-1.safetensors")
    corrupted(root)
    extra(root)
    leftover(root)
    linked(root)
    found, cache = verified(checkpoint, listing_of(checkpoint))
    tidy(checkpoint, found, cache)
    again, _ = verified(checkpoint, listing_of(checkpoint))

    assert again.lines() == [f"{SHARD}: missing"]
    assert sorted(path.name for path in checkpoint.aside.iterdir()) == [
        SHARD,
        "model-00005-of-00004.safetensors",
        "more.safetensors",
    ]


def test_the_manifest_has_a_sha256_for_every_file(checkpoint: Folder, tmp_path: Path) -> None:
    listing, copy = listing_of(checkpoint), tmp_path / "model.sha256"
    found, cache = verified(checkpoint, listing)
    complete(checkpoint, listing, cache, copy)
    manifest = read_json(checkpoint.manifest)

    assert found.lines() == []
    assert manifest["origin"] == ORIGIN
    assert [len(file["sha256"]) for file in manifest["files"].values()] == [64] * 6
    assert os.system(f"sha256sum --check --quiet {copy}") == 0


def test_a_lost_cache_costs_a_read_and_nothing_else(checkpoint: Folder, verify: Verify) -> None:
    verify(checkpoint)
    checkpoint.verified.write_text('{"model-0000')

    assert verify(checkpoint).returncode == 0


def test_what_cannot_be_noted_is_verified_all_the_same(checkpoint: Folder, verify: Verify) -> None:
    checkpoint.verified.with_name("verified.json.new").mkdir()  # as a folder that is read-only

    assert verify(checkpoint).returncode == 0
    assert not checkpoint.verified.exists()


def test_a_deep_look_that_is_killed_leaves_what_was_known(checkpoint: Folder) -> None:
    DigestCache(checkpoint).fill(["config.json", SHARD])
    deep = DigestCache(checkpoint, forget=True)
    deep.fill(["config.json"])

    assert deep.get(SHARD) is None
    assert set(read_json(checkpoint.verified)) == {"config.json", SHARD}


def test_two_looks_at_once_lose_nothing(checkpoint: Folder) -> None:
    words = verify_words(checkpoint)
    both = [subprocess.Popen(words, cwd=ROOT, stderr=subprocess.PIPE) for _ in range(2)]
    first, second = DigestCache(checkpoint), DigestCache(checkpoint)
    first.fill(["config.json"])
    second.fill([SHARD])

    assert {"config.json", SHARD} <= set(read_json(checkpoint.verified))
    assert [process.communicate()[1] for process in both] == [b"", b""]
    assert len(read_json(checkpoint.verified)) == 6


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        '{"origin": "o"',
        '{"origin": "o", "files": null}',
        '{"origin": "o", "files": {"config.json": 3}}',
        '{"origin": "o", "files": {"config.json": {"size": 1}}}',
        '{"origin": "o", "files": {"config.json": {"size": 1, "sha256": "../../x"}}}',
    ],
)
def test_a_damaged_manifest_counts_as_none(
    text: str, checkpoint: Folder, verify: Verify, tmp_path: Path
) -> None:
    checkpoint.manifest.write_text(text)
    words = shlex.split(
        str(probe_command("model", {"path": str(checkpoint.root), "copy": "/nonexistent"}))
    )
    probe = subprocess.run(words, capture_output=True, text=True, check=False)

    assert verify(checkpoint).returncode == 0  # by the listing of the fetch
    assert probe.returncode == 0, probe.stderr


def test_a_listing_never_leads_outside(tmp_path: Path) -> None:
    document = {"origin": ORIGIN, "files": {"../etc/passwd": {"size": 1, "sha256": "0" * 64}}}

    with pytest.raises(CheckpointError, match=r"refuses the path \.\./etc/passwd"):
        Listing.of(document)


def test_a_correction_is_recorded_verified_and_undone_to_the_byte(
    checkpoint: Folder, verify: Verify
) -> None:
    stale = b'{"n_routed_experts": 168,  "num_experts": 256}'
    (checkpoint.root / "config.json").write_bytes(stale)
    lines = correct(checkpoint)

    assert lines == ["config.json: dropped num_experts: 256 contradicts n_routed_experts 168"]
    assert read_json(checkpoint.root / "config.json") == {"n_routed_experts": 168}
    assert correct(checkpoint) == []
    assert verify(checkpoint).returncode == 0
    assert restore(checkpoint) == ["config.json"]
    assert (checkpoint.root / "config.json").read_bytes() == stale
    assert restore(checkpoint) == []


def test_what_modelopt_left_is_corrected_and_undone_too(checkpoint: Folder) -> None:
    path = checkpoint.root / "hf_quant_config.json"
    left = b'{"quantization": {"quant_algo": "NVFP4", "kv_cache_quant_algo": "FP8"}}'
    path.write_bytes(left)
    lines = correct(checkpoint)

    assert lines == [
        "hf_quant_config.json: dropped quantization.kv_cache_quant_algo: "
        "FP8 promises KV scales that no shard holds"
    ]
    assert read_json(path) == {"quantization": {"quant_algo": "NVFP4"}}
    assert correct(checkpoint) == []
    assert restore(checkpoint) == ["hf_quant_config.json"]
    assert path.read_bytes() == left
