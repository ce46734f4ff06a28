"""Where the checkpoint comes from."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from glmstead import ROOT
from glmstead.layer_map import contradictions
from glmstead.settings.model import Cluster, Settings
from glmstead.settings.problem import UNSET, Problem

_COMMIT = re.compile(r"[0-9a-f]{40}")


def hub_source(settings: Settings, cluster: Cluster) -> Iterator[Problem]:
    """A download names its repository and a commit: a branch moves, and ranks must agree."""
    model = settings.model
    if model.source != "hub":
        return
    if model.repo is None:
        yield Problem("model_repo", UNSET, "a value is needed", "set it to owner/name")
    if model.revision is None:
        fix = "set it to the commit hash, 40 hex digits"
        yield Problem("model_revision", UNSET, "a value is needed", fix)
    elif not _COMMIT.fullmatch(model.revision):
        wrong = "not a commit hash: a branch or tag can move between hosts and runs"
        yield Problem("model_revision", model.revision, wrong, "give the 40 hex digits")


def controller_source(settings: Settings, cluster: Cluster) -> Iterator[Problem]:
    """A checkpoint of this project is a folder with a config.json."""
    model = settings.model
    if model.source != "controller":
        return
    if model.directory is None:
        fix = "set it to the checkpoint's folder, relative to the project"
        yield Problem("model_directory", UNSET, "a value is needed", fix)
    elif model.directory.endswith(".tar") and (ROOT / model.directory).is_file():
        return
    elif not (config := ROOT / model.directory / "config.json").is_file():
        wrong = f"no config.json in {ROOT / model.directory}"
        yield Problem("model_directory", model.directory, wrong, "give the checkpoint's folder")
    else:
        for wrong in _contradictions(config):
            yield Problem("model_directory", model.directory, wrong, "use a whole checkpoint")


def host_source(settings: Settings, cluster: Cluster) -> Iterator[Problem]:
    """A checkpoint that lies on the hosts is named by an absolute path."""
    model = settings.model
    if model.source == "host" and not (model.directory or "").startswith("/"):
        wrong = "source host needs an absolute path"
        yield Problem("model_directory", model.directory, wrong, "give the folder or tar there")


def _contradictions(config: Path) -> list[str]:
    """What a file says against itself; what is on hosts is judged there, in the same words."""
    try:
        return contradictions(json.loads(config.read_text()))
    except ValueError as error:
        return [f"config.json is no JSON: {error}"]
