"""Sections about engines that no lock describes: images, files a site brings, a git checkout."""

from typing import Annotated, Literal

from pydantic import Field

from glmstead.settings.sections.base import (
    AbsolutePath,
    LockName,
    Section,
    Strings,
    VariableName,
    of_form,
)

Digest = Annotated[str, of_form(r"sha256:[0-9a-f]{64}", '"sha256:" and 64 hex digits')]
Commit = Annotated[str, of_form(r"[0-9a-f]{40}", "40 hex digits")]
Sha256 = Annotated[str, of_form(r"[0-9a-f]{64}", "64 hex digits")]
Repository = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._/:-]*$")]
VariableNames = Annotated[tuple[VariableName, ...], Field(strict=False)]
AbsolutePaths = Annotated[tuple[AbsolutePath, ...], Field(strict=False)]


class ImageSettings(Section):
    """The container that serves, of engine_kind container (``image_``)."""

    source: Literal["registry", "archive", "build"] = Field(
        default="registry", description="pulled, loaded from a tar, or built on the host"
    )
    name: Repository | None = Field(default=None, description="repository, without tag")
    tag: str | None = Field(
        default=None, pattern=r"^[A-Za-z0-9_.-]+$", description="tag, for people: it pins nothing"
    )
    digest: Digest | None = Field(
        default=None,
        description="manifest's digest (source registry) or image's id (source archive)",
    )
    archive: str | None = Field(
        default=None, description="source archive: tar of docker save, on this machine"
    )
    archive_sha256: Sha256 | None = Field(default=None, description="sha256 of that tar")
    base_name: Repository | None = Field(
        default=None, description="source build: repository of the official image"
    )
    base_digest: Digest | None = Field(
        default=None, description="manifest's digest of the official image (source build)"
    )
    python: str = Field(default="python3", description="interpreter that holds vLLM, in the image")
    entry: Strings = Field(
        default=("vllm", "serve"), description="words before the model, in the image"
    )
    unset: VariableNames = Field(
        default=(), description="variables of the image that the engine must not see"
    )
    cache_mounts: AbsolutePaths = Field(
        default=("/root/.cache",), description="folders of the image kept on the host: JIT caches"
    )
    shm_gb: float = Field(default=32.0, gt=0, description="/dev/shm of the container, GB")
    ulimits: dict[str, int] = Field(
        default={"memlock": -1, "stack": 67108864},
        description="limits of the container's processes; -1: none",
    )
    add_capabilities: Strings = Field(default=(), description="capabilities beyond Docker's own")
    privileged: bool = Field(default=False, description="--privileged; say why in the next one")
    privileged_reason: str | None = Field(default=None, description="why it is needed here")
    ray_packages: Strings = Field(
        default=(), description="source build: the Ray variant's packages, pinned; empty: no Ray"
    )


class OverlaySettings(Section):
    """Python files of a change that no release holds, from a source of the site (``overlay_``)."""

    name: LockName | None = Field(
        default=None, description="NAME of NAME.json, which lists and pins the files"
    )
    folder: str = Field(
        default="files/overlays",
        description="folder on this machine that holds NAME.json; relative: the project's",
    )
    source: str | None = Field(
        default=None,
        description="folder on this machine, or https address, that holds the listed paths",
    )


class GitSettings(Section):
    """vLLM from git, of engine_source git (``git_``): a pinned release plus one picked change."""

    url: str | None = Field(default=None, description="repository, or a mirror of it")
    root: AbsolutePath = Field(default="/opt/glmstead/vllm", description="checkout on the host")
    commit: Commit | None = Field(default=None, description="upstream commit to build on")
    pick_ref: str | None = Field(
        default=None, description="ref that holds the change, such as pull/38476/head"
    )
    pick_commit: Commit | None = Field(default=None, description="commit that this ref must be")
    drop: Strings = Field(default=(), description="paths of the change that are left out (globs)")
    ours: Strings = Field(
        default=(), description="files that stay upstream's in a conflict; patches mend them"
    )
    only: Strings = Field(
        default=("*.py", "*.md"), description="what the change may touch, else it needs a compiler"
    )
