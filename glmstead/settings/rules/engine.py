"""The kind of engine: what each kind needs, and what it rules out."""

from collections.abc import Iterator

from glmstead.overlays import list_path
from glmstead.settings.model import Cluster, Settings
from glmstead.settings.problem import UNSET, Problem


def kinds(settings: Settings, cluster: Cluster) -> Iterator[Problem]:
    """Ray spreads over hosts and is pinned; the other kinds serve from one host."""
    engine = settings.engine
    if engine.kind != "ray" and cluster.workers:
        names = [member.name for member in cluster.workers]
        wrong = f'engine_kind "{engine.kind}" serves from one host'
        yield Problem("worker", names, wrong, "take them out, or give each an inventory")
    if engine.kind == "ray" and engine.ray_version is None:
        yield Problem("engine_ray_version", UNSET, "a value is needed", "pin Ray as in the lock")
    if engine.kind != "container" and engine.lock is None:
        fix = "name a lock of files/locks"
        yield Problem("engine_lock", UNSET, "a value is needed", fix)
    if engine.kind == "container" and settings.container.runtime == "none":
        fix = 'set container_runtime to "docker"'
        yield Problem("container_runtime", "none", "the engine is a container", fix)
    if not settings.gpus_per_host:
        fix = "set gpu_count, or ray_gpus_per_host where there are no GPUs"
        yield Problem("gpu_count", settings.gpu.count, "ranks need a number of GPUs", fix)


def overlay_files(settings: Settings, cluster: Cluster) -> Iterator[Problem]:
    """The files of a change are pinned by their list, and come from somewhere."""
    overlay = settings.overlay
    if overlay.name is None:
        return
    if not list_path(overlay.name, overlay.folder).is_file():
        wrong = f"there is no {overlay.folder}/{overlay.name}.json"
        fix = f"write it: glmstead overlay {overlay.name} --from SOURCE --commit COMMIT PATH ..."
        yield Problem("overlay_name", overlay.name, wrong, fix)
    if overlay.source is None:
        fix = "give the folder or https address that holds the listed paths"
        yield Problem("overlay_source", UNSET, "a value is needed", fix)


def git_checkout(settings: Settings, cluster: Cluster) -> Iterator[Problem]:
    """A checkout is pinned at both ends: what is built on, and what is picked."""
    git = settings.git
    if settings.engine.source != "git":
        return
    for field in ("url", "commit"):
        if getattr(git, field) is None:
            yield Problem(f"git_{field}", UNSET, "a value is needed", "engine_source is git")
    if (git.pick_ref is None) != (git.pick_commit is None):
        fix = "give git_pick_ref and git_pick_commit, or neither"
        yield Problem("git_pick_commit", git.pick_commit, "half a change", fix)
    if git.commit is not None and git.commit == git.pick_commit:
        wrong = "the change itself, so this is its old branch"
        yield Problem("git_commit", git.commit, wrong, "pin upstream's commit")


def thinking(settings: Settings, cluster: Cluster) -> Iterator[Problem]:
    """The switch selects parser and template, so the parser must be known."""
    vllm = settings.vllm
    if vllm.thinking is None:
        return
    if vllm.thinking and vllm.reasoning_parser is None:
        fix = 'set vllm_reasoning_parser to "glm45"'
        yield Problem("vllm_thinking", True, "no parser would tell thoughts from answers", fix)
    if settings.engine.kind == "ray":
        fix = "remove it: the gateway's model names choose for each request"
        yield Problem("vllm_thinking", vllm.thinking, "not a setting of Ray's routes", fix)


def ampere(settings: Settings, cluster: Cluster) -> Iterator[Problem]:
    """SM80 has no fp8 kernels for the cache, and a sparse backend only by an overlay."""
    vllm = settings.vllm
    if settings.gpu.capability != "8.0":
        return
    if vllm.kv_cache_dtype == "fp8":
        wrong = "no fp8 KV cache on compute capability 8.0"
        yield Problem("vllm_kv_cache_dtype", "fp8", wrong, 'use "auto", which is bf16 here')
    sparse = vllm.attention_backend == "TRITON_MLA_SPARSE"
    elsewhere = settings.engine.kind == "container" and settings.image.source != "build"
    brought = settings.overlay.name is not None or settings.engine.source == "git"
    if sparse and not brought and not elsewhere:
        fix = "set overlay_name and overlay_source, or engine_source to git"
        wrong = "no release holds this backend"
        yield Problem("vllm_attention_backend", vllm.attention_backend, wrong, fix)
