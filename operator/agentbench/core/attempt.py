"""The life of a run: one attempt, and a second only after an infra failure."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from agentbench_analysis.rows.words import Cause, Outcome

MAX_ATTEMPTS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """The facts of one row that decisions need. Cost in US dollars, None where unavailable."""

    run: str
    attempt: int
    outcome: Outcome
    cause: Cause | None
    cost: Decimal | None

    @property
    def infra(self) -> bool:
        """Whether the attempt is labelled an infra failure."""
        return self.outcome is Outcome.FAIL and self.cause is Cause.INFRA


def next_attempt(recorded: Sequence[Recorded]) -> int | None:
    """The attempt that a run still needs: 1, 2, or None when it is done.

    `recorded` holds the rows of this run alone. A suspected infra failure is rerun once; a
    second one leaves the cell incomplete, never a third attempt.
    """
    if not recorded:
        return 1
    last = max(recorded, key=lambda row: row.attempt)
    if last.infra and last.attempt < MAX_ATTEMPTS:
        return last.attempt + 1
    return None
