"""What a campaign's recorded attempts add up to; built again from run objects after a restart."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from agentbench.api.run import Measures, RunStatus
from agentbench.app.metric_list import (
    ATTEMPTS,
    CAPS,
    FLAGGED,
    FLAGS,
    LONG,
    MEANS,
    REASONS,
    RERUNS,
    STAGE_MEASURES,
    TOKEN_KINDS,
    TOKENS,
)
from agentbench.core.measures import measures
from agentbench.core.summary import Cap
from agentbench_analysis.rows.model import Row
from agentbench_analysis.rows.words import Cause, Outcome, Phase

Labels = tuple[str, ...]

PAIRS = 24
"""Pairs of stack and agent that have series of their own; more would be too many series."""

OTHER = ("other", "other")
"""The label values under which the pairs beyond are counted together."""

NO_CAUSE = "none"
_UNKNOWN = Measures()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """One recorded attempt, as far as it is counted."""

    stack: str
    agent: str
    phase: str
    number: int
    outcome: str
    cause: str
    reason: str | None
    measures: Measures


@dataclass(slots=True)
class Spread:
    """A histogram: how many values fell below each bound, and their sum."""

    below: list[int] = field(default_factory=lambda: [0] * (len(LONG) + 1))
    sum: float = 0.0

    def add(self, value: float) -> None:
        """Count a value."""
        self.below[bisect_left(LONG, value)] += 1
        self.sum += value


class Totals:
    """Counts and sums of one campaign's recorded attempts.

    Their number of series does not grow with runs: labels are stacks, agents and closed lists.
    """

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        self._own = frozenset(list(dict.fromkeys(pairs))[:PAIRS])
        self.counts: dict[str, defaultdict[Labels, int]] = {
            spec.name: defaultdict(int) for spec in (ATTEMPTS, REASONS, RERUNS, CAPS, FLAGS)
        }
        self.sums: dict[str, dict[Labels, list[float]]] = {
            spec.name: {} for spec in (*MEANS, TOKENS)
        }
        self.stages: dict[str, Spread] = {stage: Spread() for stage in STAGE_MEASURES}
        for pair in self._own:
            self._from_zero(pair)

    def _from_zero(self, pair: tuple[str, str]) -> None:
        """Show zeros from the start: a rate does not see the first step of a new series."""
        ends = [(Outcome.PASS.value, NO_CAUSE), (Outcome.ABORTED.value, NO_CAUSE)]
        ends += [(Outcome.FAIL.value, cause.value) for cause in Cause]
        for outcome, cause in ends:
            self.counts[ATTEMPTS.name][*pair, Phase.SAMPLE.value, outcome, cause] = 0
        self.counts[RERUNS.name][pair] = 0
        for cap in Cap:
            self.counts[CAPS.name][*pair, cap.value] = 0

    def add(self, ended: Ended) -> None:
        """Count a recorded attempt."""
        pair = (ended.stack, ended.agent)
        pair = pair if pair in self._own else OTHER
        counts, values = self.counts, ended.measures.values
        counts[ATTEMPTS.name][*pair, ended.phase, ended.outcome, ended.cause] += 1
        if ended.reason:
            counts[REASONS.name][(ended.reason,)] += 1
        if ended.number > 1:
            counts[RERUNS.name][pair] += 1
        for cap in ended.measures.caps_hit:
            counts[CAPS.name][*pair, cap] += 1
        for stage, name in STAGE_MEASURES.items():
            if name in values:
                self.stages[stage].add(values[name])
        if ended.phase == Phase.SAMPLE:
            self._add_sample(pair, values)

    def _add_sample(self, pair: Labels, values: Mapping[str, float]) -> None:
        for flag in FLAGGED:
            if flag in values:
                self.counts[FLAGS.name][*pair, flag, "yes" if values[flag] else "no"] += 1
        for spec in MEANS:
            self._sum(spec.name, pair, values.get(spec.catalog))
        for kind in TOKEN_KINDS:
            self._sum(TOKENS.name, (*pair, kind), values.get(kind))

    def _sum(self, name: str, labels: Labels, value: float | None) -> None:
        if value is not None:
            both = self.sums[name].setdefault(labels, [0.0, 0.0])
            both[0] += 1
            both[1] += value

    async def reading(
        self, objects: AsyncIterator[Mapping[str, Any]]
    ) -> AsyncIterator[Mapping[str, Any]]:
        """Pass run objects on, counting their recorded attempts on the way."""
        async for raw in objects:
            for ended in of_object(raw):
                self.add(ended)
            yield raw


def of_row(row: Row) -> Ended:
    """A recorded attempt, from its row."""
    return Ended(
        stack=row.cell.stack,
        agent=row.cell.agent,
        phase=row.phase.value,
        number=row.attempt,
        outcome=row.outcome.value,
        cause=row.cause.value if row.cause else NO_CAUSE,
        reason=row.reasons[0] if row.reasons else None,
        measures=measures(row),
    )


def of_object(raw: Mapping[str, Any]) -> Iterator[Ended]:
    """The recorded attempts of a run, from its object."""
    if not raw.get("status"):
        return
    cell, status = raw["spec"]["cell"], RunStatus.model_validate(raw["status"])
    for attempt in status.attempts:
        if attempt.row_key:
            outcome = attempt.outcome or Outcome.ABORTED
            yield Ended(
                stack=cell["stack"],
                agent=cell["agent"],
                phase=raw["spec"].get("phase", Phase.SAMPLE.value),
                number=attempt.number,
                outcome=outcome.value,
                cause=attempt.cause.value if attempt.cause else NO_CAUSE,
                reason=attempt.reason,
                measures=status.measures.get(str(attempt.number), _UNKNOWN),
            )
