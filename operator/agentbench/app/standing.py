"""Where a campaign stands, as numbers: what one tick leaves for the metrics."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from agentbench.app.metric_list import (
    BUDGET,
    BUDGET_LEFT,
    DONE,
    ENDED,
    LIVE,
    PARALLELISM,
    PHASE,
    PLANNED,
    PROJECTED,
    QUEUED,
    RESERVED,
    ROWS_PENDING,
    SPENT,
    STAGES,
    STALLED,
    STORE,
    TICKED,
    Spec,
)
from agentbench.core.admission import Limits
from agentbench.core.decide import CampaignPhase, Tally
from agentbench.core.stages import Stage

PHASES = (*(str(phase) for phase in CampaignPhase), "Stalled")

Sample = tuple[Spec, tuple[str, ...], float]
"""A metric, the values of its labels after those of the campaign, and its value."""


@dataclass(slots=True)
class Standing:
    """One campaign as its last tick left it; None where a tick has not come that far."""

    counted: Sequence[Sample] = ()
    said: Sequence[Sample] = field(default_factory=tuple)

    def samples(self) -> Iterator[Sample]:
        """Every gauge of the campaign."""
        yield from self.counted
        yield from self.said


def counted(
    tally: Tally,
    limits: Limits,
    stages: Sequence[Stage],
    *,
    projected: Decimal | None,
    store_available: bool,
) -> tuple[Sample, ...]:
    """The gauges that a decision gives; `stages` has one entry for each live attempt."""
    by_stage = Counter(stages)
    found: list[Sample] = [
        (PLANNED, (), tally.total),
        (DONE, (), tally.done),
        (LIVE, (), tally.live),
        (QUEUED, (), max(0, tally.total - tally.done - tally.live)),
        (PARALLELISM, (), limits.parallelism),
        (ROWS_PENDING, (), sum(number for stage, number in by_stage.items() if stage.over)),
        (SPENT, (), float(tally.spent)),
        (RESERVED, (), float(tally.reserved)),
        (STORE, (), float(store_available)),
    ]
    lost = tally.done - tally.passed - tally.failed - tally.aborted
    for result, number in (
        ("pass", tally.passed),
        ("fail", tally.failed),
        ("infra", lost),
        ("aborted", tally.aborted),
    ):
        found.append((ENDED, (result,), number))
    found += [(STAGES, (stage.value,), by_stage[stage]) for stage in Stage]
    if projected is not None:
        found.append((PROJECTED, (), float(projected)))
    if limits.budget is not None:
        found.append((BUDGET, (), float(limits.budget)))
        found.append((BUDGET_LEFT, (), float(limits.budget - tally.spent - tally.reserved)))
    return tuple(found)


def store_lost(before: Sequence[Sample]) -> tuple[Sample, ...]:
    """The gauges of a tick that could not begin, for want of a store."""
    return (*(sample for sample in before if sample[0] is not STORE), (STORE, (), 0.0))


def said(status: Mapping[str, Any], now: float) -> tuple[Sample, ...]:
    """The gauges that a written status gives; `now` is Unix time."""
    phase = status.get("phase", "")
    conditions = status.get("conditions") or ()
    stalled = any(each["type"] == "Stalled" and each["status"] == "True" for each in conditions)
    shown: list[Sample] = [(PHASE, (name,), float(name == phase)) for name in PHASES]
    return (*shown, (STALLED, (), float(stalled)), (TICKED, (), now))
