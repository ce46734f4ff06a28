"""Judges whether an engine makes progress; pure, no clock and no I/O of its own.

An engine is alive when its counter of iterations moved, or when it answers a question: a port, a
health page or ``/v1/models`` say nothing (gonka-ai/gonka#1421, vllm-project/vllm#39863).
"""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Limits:
    """Seconds and counts; see watch_* in the settings."""

    idle_ask_s: float
    failures: int
    compile_s: float
    restarts: int
    window_s: float


@dataclass(frozen=True)
class Look:
    """What one look at a server says; ``counter`` is None when its metrics do not answer."""

    now: float
    counter: float | None
    unfinished: float = 0.0  # requests that run or wait


@dataclass
class Liveness:
    """What is remembered between looks; times as in ``Look.now``."""

    limits: Limits
    restarts: list[float] = field(default_factory=list)
    counter: float | None = None
    progress_at: float = 0.0
    failures: int = 0

    def begin(self, now: float) -> None:
        """The server has just answered its first request: it starts with a clean record."""
        self.counter, self.progress_at, self.failures = None, now, 0

    def moved(self, look: Look) -> bool:
        """Take a look in; true when the engine did something since the one before."""
        if look.counter is None or look.counter == self.counter:
            return False
        self.counter = look.counter
        self.alive(look.now)
        return True

    def must_ask(self, look: Look) -> bool:
        """Whether to ask a question now: work that does not move, or long idle, or in doubt."""
        doubtful = look.counter is None or look.unfinished > 0 or self.failures > 0
        return doubtful or look.now - self.progress_at >= self.limits.idle_ask_s

    def alive(self, now: float) -> None:
        """It answered, or its counter moved."""
        self.progress_at, self.failures = now, 0

    def silent(self, now: float, compiling: bool) -> None:
        """No answer and no progress; kernels that are being compiled look just like that."""
        if not (compiling and now - self.progress_at < self.limits.compile_s):
            self.failures += 1

    def dead(self) -> bool:
        """Silent so many times in a row that it is not coming back."""
        return self.failures >= self.limits.failures

    def may_restart(self, now: float) -> bool:
        """Whether a restart is still allowed in this window."""
        self.restarts = [at for at in self.restarts if now - at < self.limits.window_s]
        return len(self.restarts) < self.limits.restarts
