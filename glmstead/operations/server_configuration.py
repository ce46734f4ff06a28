"""vLLM's arguments, with the layer map only where vLLM would derive another one."""

from collections.abc import Generator
from typing import Any

import yaml
from pyinfra import host
from pyinfra.api import StringCommand, operation

from glmstead import places
from glmstead.layer_map import layer_map, override_needed
from glmstead.operations.managed_files import ManagedFile, managed_files
from glmstead.operations.models import last_state
from glmstead.serving import vllm_config
from glmstead.settings import Settings


def server_file(settings: Settings, model: dict[str, Any]) -> ManagedFile:
    """vllm.yaml; ``model`` is the checkpoint's config.json, empty before it is on the host."""
    text = yaml.safe_dump(vllm_config(settings, pattern_for(settings, model)), sort_keys=False)
    return ManagedFile(places.VLLM_CONFIG, text)


def pattern_for(settings: Settings, model: dict[str, Any]) -> str | None:
    """The layer map to pass: where vLLM would derive another one, or to a fork always."""
    if not model:
        return None
    if settings.vllm.layer_map == "always" and model.get("indexer_types"):
        return layer_map(model)
    return override_needed(model, settings.engine.version)


@operation()
def server_configuration(settings: Settings) -> Generator[StringCommand, None, None]:
    """
    Ensure vLLM's arguments file, derived from settings and the checkpoint on this host.

    + settings: of this host
    """
    state = last_state(host, settings.model.path)
    yield from managed_files._inner(files=[server_file(settings, state["config"])])
