"""One clock for a run: durations from a monotonic clock, times of day derived from it."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True)
class Stamps:
    """Times of one run. The time of day is read once, so that later jumps of it change nothing."""

    monotonic: Callable[[], float] = time.monotonic
    wall: Callable[[], datetime] = _now
    _began: float = field(init=False)
    _began_at: datetime = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_began", self.monotonic())
        object.__setattr__(self, "_began_at", self.wall())

    def seconds(self) -> float:
        """Seconds since the clock was made."""
        return self.monotonic() - self._began

    def at(self) -> str:
        """The time of day, RFC 3339 in UTC."""
        moment = self._began_at + timedelta(seconds=self.seconds())
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
