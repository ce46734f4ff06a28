"""Sections about the life of the services: how they are watched, and when the engine sleeps."""

from pydantic import Field

from glmstead.settings.sections.base import Section


class IdleSettings(Section):
    """Scale to zero (``idle_``): an engine nobody uses is stopped, the next request starts it."""

    after_s: float | None = Field(
        default=None, gt=0, description="stop the engine when nobody asked for so long; None: never"
    )
    wait_s: int = Field(
        default=1800, ge=0, description="a request waits so long for a start, then 503, seconds"
    )
    stop_command: str | None = Field(
        default=None, description="shell command of the site instead of stopping the unit"
    )
    start_command: str | None = Field(
        default=None, description="shell command of the site instead of starting the unit"
    )


class JournalSettings(Section):
    """The hosts' journal (``journal_``), which holds what all services say."""

    size_gb: float = Field(default=4.0, ge=0.1, description="the most it may take, GB")
    days: int = Field(default=30, ge=1, description="how long an entry is kept, days")


class WatchSettings(Section):
    """Liveness of the engine (``watch_``)."""

    interval_s: float = Field(default=10.0, ge=1, description="time between two looks, seconds")
    answer_timeout_s: float = Field(
        default=30.0, ge=1, description="bound on the answer of one token, seconds"
    )
    idle_ask_s: float = Field(
        default=60.0,
        ge=1,
        description="an idle engine is asked for a token this often, Ray for a worker, seconds",
    )
    failures: int = Field(default=3, ge=1, description="silent looks in a row that mean hung")
    compile_s: float = Field(
        default=900.0, ge=0, description="silence allowed while kernels are compiled, seconds"
    )
    restarts: int = Field(
        default=3, ge=1, description="restarts allowed in a window, then it stops"
    )
    window_s: float = Field(default=3600.0, ge=60, description="length of that window, seconds")
