"""The real model's layout, 141 shards of 5.36 GB as sparse files: notes, index, layer map."""

import json
import os
import shlex
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from glmstead.checkpoint.hashing import DigestCache, stat_of
from glmstead.checkpoint.listing import Entry, Folder, Listing
from glmstead.checkpoint.survey import survey
from glmstead.checkpoint.verify import complete
from glmstead.fit.cards import CARDS
from glmstead.layer_map import check, layer_map, override_needed, serving_problems
from glmstead.probes import probe_command

SHARDS, SIZE = 141, 5_359_000_000
NAMES = [f"model-{n:05}-of-{SHARDS:05}.safetensors" for n in range(1, SHARDS + 1)]
ROUTER = {"topk_method": "noaux_tc", "scoring_func": "sigmoid"}
CONFIG = {**CARDS["zai-org/GLM-5.2-FP8"].config, **ROUTER}


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """Everything as the real checkpoint has it but the content, whose digests are made up."""
    folder = Folder(tmp_path / "GLM-5.2-FP8")
    folder.root.mkdir()
    weights = {f"model.layers.{n % 78}.part.{n}": name for n, name in enumerate(NAMES)}
    index = {"metadata": {"total_size": SHARDS * SIZE}, "weight_map": weights}
    texts = {"config.json": CONFIG, "model.safetensors.index.json": index, "tokenizer.json": {}}
    for name, document in texts.items():
        (folder.root / name).write_text(json.dumps(document))
    (folder.root / "chat_template.jinja").write_text("{{ messages }}")
    for name in NAMES:
        (folder.root / name).touch()
        os.truncate(folder.root / name, SIZE)
    return folder


def noted(folder: Folder) -> tuple[Listing, DigestCache]:
    """The listing, and a cache as an earlier verification left it."""
    cache = DigestCache(folder)
    files = {}
    for number, path in enumerate(sorted(folder.root.iterdir())):
        if path.is_file():
            digest = f"{number:064x}"
            files[path.name] = Entry(path.stat().st_size, sha256=digest)
            cache.put({path.name: ({"sha256": digest}, stat_of(path) or [])})
    return Listing("zai-org/GLM-5.2-FP8@commit", files), cache


def probe(folder: Folder) -> dict[str, Any]:
    words = str(probe_command("model", {"path": str(folder.root), "copy": "/nonexistent"}))
    done = subprocess.run(shlex.split(words), capture_output=True, text=True, check=True)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_755_gb_are_told_whole_without_reading_them(folder: Folder) -> None:
    listing, cache = noted(folder)
    read: list[int] = []
    started = time.process_time()
    found = survey(folder, listing, cache, read.append)
    complete(folder, listing, cache, None)
    seconds = time.process_time() - started
    state = probe(folder)

    assert (len(found.good), found.lines(), read) == (145, [], [])
    assert 755.6e9 < listing.size < 755.8e9
    assert seconds < 1
    assert (len(state["index"]), state["lacking"], state["strays"]) == (141, [], [])


def test_a_shard_that_is_swapped_or_cut_is_told_by_the_probe(folder: Folder) -> None:
    listing, cache = noted(folder)
    complete(folder, listing, cache, None)
    os.truncate(folder.root / NAMES[3], SIZE - 1)
    (folder.root / NAMES[7]).unlink()
    (folder.root / "model-00142-of-00141.safetensors").touch()
    state = probe(folder)

    assert state["lacking"] == [NAMES[3], NAMES[7]]
    assert state["strays"] == ["model-00142-of-00141.safetensors"]


def test_the_real_config_is_served_with_the_layer_map_it_has(folder: Folder) -> None:
    state = probe(folder)
    config = state["config"]
    pattern = layer_map(config)

    assert (
        serving_problems(config, state["index"], state["files"], "0.28.0", quantization="fp8") == []
    )
    assert (pattern.count("F"), pattern.count("S")) == (21, 57)
    assert check(config) == []
    assert override_needed(config, "0.28.0") is None


def test_the_index_may_name_nothing_that_is_absent(folder: Folder) -> None:
    (folder.root / NAMES[0]).unlink()
    (folder.root / NAMES[1]).unlink()
    state = probe(folder)

    assert serving_problems(state["config"], state["index"], state["files"]) == [
        f"{NAMES[0]} and 1 more missing or empty; fix: fetch the checkpoint again"
    ]
