"""The settings of one host and the cluster it belongs to: frozen values, no pyinfra."""

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from glmstead.settings.sections import (
    ClusterSettings,
    ContainerSettings,
    CudaSettings,
    DriverSettings,
    EngineSettings,
    GatewaySettings,
    GitSettings,
    GpuSettings,
    IdleSettings,
    ImageSettings,
    JournalSettings,
    MetricsSettings,
    ModelSettings,
    NcclSettings,
    OverlaySettings,
    PatchSettings,
    RaySettings,
    Section,
    SmokeSettings,
    SystemSettings,
    VllmSettings,
    WatchSettings,
)


class Settings(BaseModel):
    """Everything declared about one host: its route and one section a prefix."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    route: str
    cluster: ClusterSettings
    system: SystemSettings
    gpu: GpuSettings
    driver: DriverSettings
    cuda: CudaSettings
    container: ContainerSettings
    engine: EngineSettings
    image: ImageSettings
    overlay: OverlaySettings
    git: GitSettings
    patches: PatchSettings
    model: ModelSettings
    ray: RaySettings
    nccl: NcclSettings
    vllm: VllmSettings
    gateway: GatewaySettings
    smoke: SmokeSettings
    journal: JournalSettings
    watch: WatchSettings
    idle: IdleSettings
    metrics: MetricsSettings

    @property
    def gpus_per_host(self) -> int:
        """GPUs, and so ranks, of each host."""
        return self.ray.gpus_per_host or self.gpu.count


SECTIONS: dict[str, type[Section]] = {
    name: field.annotation
    for name, field in Settings.model_fields.items()
    if isinstance(field.annotation, type) and issubclass(field.annotation, Section)
}
"""Prefix in group_data -> model, in the order of the reference."""

KEYS: dict[str, tuple[str, str]] = {
    f"{prefix}_{name}": (prefix, name)
    for prefix, section in SECTIONS.items()
    for name in section.model_fields
}
"""Every key of group_data -> its section and field."""


@dataclass(frozen=True)
class Member:
    """A host of the cluster, by inventory name and private address."""

    name: str
    address: str


@dataclass(frozen=True)
class Cluster:
    """Who is who: one head, any number of workers, one gateway."""

    head: Member
    workers: tuple[Member, ...]
    gateway: Member

    @property
    def members(self) -> tuple[Member, ...]:
        """The hosts that run Ray, head first."""
        return (self.head, *self.workers)

    @property
    def hosts(self) -> int:
        """How many hosts run Ray."""
        return len(self.members)
