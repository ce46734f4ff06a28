"""The sections of a host's settings: one frozen model a prefix of group_data.

``vllm_port`` in group_data is ``Settings.vllm.port`` here. Fields hold primitives only; what a
field means to a user is its ``description``, from which docs/settings.md is generated.
"""

from glmstead.settings.sections.base import Section
from glmstead.settings.sections.gpu import (
    ContainerSettings,
    CudaSettings,
    DriverSettings,
    GpuSettings,
)
from glmstead.settings.sections.host import (
    ClusterSettings,
    EngineSettings,
    PatchSettings,
    SystemSettings,
)
from glmstead.settings.sections.image import GitSettings, ImageSettings, OverlaySettings
from glmstead.settings.sections.lifecycle import (
    IdleSettings,
    JournalSettings,
    WatchSettings,
)
from glmstead.settings.sections.metrics import MetricsSettings
from glmstead.settings.sections.serving import (
    GatewaySettings,
    ModelSettings,
    NcclSettings,
    RaySettings,
    SmokeSettings,
    VllmSettings,
)

__all__ = [
    "ClusterSettings",
    "ContainerSettings",
    "CudaSettings",
    "DriverSettings",
    "EngineSettings",
    "GatewaySettings",
    "GitSettings",
    "GpuSettings",
    "IdleSettings",
    "ImageSettings",
    "JournalSettings",
    "MetricsSettings",
    "ModelSettings",
    "NcclSettings",
    "OverlaySettings",
    "PatchSettings",
    "RaySettings",
    "Section",
    "SmokeSettings",
    "SystemSettings",
    "VllmSettings",
    "WatchSettings",
]
