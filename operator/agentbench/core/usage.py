"""Canonical token counts of a model call, and what was read of one answer.

The counts do not overlap: `input_uncached`, `cache_read`, `cache_write_5m` and `cache_write_1h`
are the whole input, `output` holds the reasoning inside, and `reasoning` says how much of it that
was. A count that the provider did not give is None; it is never taken to be 0.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

COUNTS = (
    "input_uncached",
    "cache_read",
    "cache_write_5m",
    "cache_write_1h",
    "output",
    "reasoning",
)
INCONSISTENT = "inconsistent usage"
NOT_REPORTED = "not reported by the provider"


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one call, or of many; None where the provider did not say."""

    input_uncached: int | None = None
    cache_read: int | None = None
    cache_write_5m: int | None = None
    cache_write_1h: int | None = None
    output: int | None = None
    reasoning: int | None = None

    def counts(self) -> dict[str, int | None]:
        """The counts by name, in their canonical order."""
        return {spec.name: getattr(self, spec.name) for spec in fields(self)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What an answer said of itself, as far as it came.

    Attributes:
        usage: the counts; of an answer that was cut, those that had already come.
        complete: whether the answer's final usage came.
        reason: why counts are missing or not to be trusted.
        model: the name that the API returned.
        tool_calls: tool-use items that the model asked the agent to execute.
        searches: web searches that the provider ran itself, billed apiece.
        text_bytes: size in UTF-8 of the text, reasoning and tool input that came.
        error: the kind of an error event inside the answer.
        finish: why the model stopped, in the provider's word.
        response_id: the provider's name of the answer.
        started: whether the provider had begun to answer: from then on it bills.
    """

    usage: Usage = Usage()
    complete: bool = False
    reason: str | None = None
    model: str | None = None
    tool_calls: int = 0
    searches: int = 0
    text_bytes: int = 0
    error: str | None = None
    finish: str | None = None
    response_id: str | None = None
    started: bool = False


NOTHING_READ = Reading()


class InconsistentUsage(ValueError):
    """A usage object whose counts cannot all be true."""


def count(source: Mapping[str, Any], name: str) -> int | None:
    """One count of a usage object; None if it is absent or null.

    Raises:
        InconsistentUsage: it is no whole number, or it is negative.
    """
    value = source.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InconsistentUsage(f"{INCONSISTENT}: {name} is {value!r:.40}")
    return value


def section(source: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """An object inside an object; empty if it is absent, null or something else."""
    value = source.get(name)
    return value if isinstance(value, Mapping) else {}


def text_size(value: object) -> int:
    """Bytes of a text in UTF-8; 0 for anything that is no text."""
    return len(value.encode("utf-8", "surrogatepass")) if isinstance(value, str) else 0


def text_or_none(value: object) -> str | None:
    """The value if it is a text of sane length, else None."""
    return value[:256] if isinstance(value, str) and value else None


@dataclass(slots=True)
class UsageTotals:
    """Counts summed over the calls of a run; a sum with a missing part is missing.

    `missing` counts, for each name, the calls that did not say; `reasons` keeps the first reason.
    """

    calls: int = 0
    sums: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTS, 0))
    missing: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTS, 0))
    reasons: dict[str, str] = field(default_factory=dict)

    def add(self, usage: Usage, reason: str | None = None) -> None:
        """Add one call's counts."""
        self.calls += 1
        for name, value in usage.counts().items():
            if value is None:
                self.missing[name] += 1
                self.reasons.setdefault(name, reason or NOT_REPORTED)
            else:
                self.sums[name] += value

    def total(self, name: str) -> tuple[int | None, str | None]:
        """The sum, or None and why there is none."""
        if missing := self.missing[name]:
            return None, f"{missing} of {self.calls} calls: {self.reasons[name]}"
        return self.sums[name], None
