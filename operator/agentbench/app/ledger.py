"""What is known of a campaign's runs between two ticks, and how it is learnt after a restart.

The operator is the only writer of run statuses, so facts of recorded attempts are kept in memory
once they are read, and added up as they come: no tick reads all of them again. The ledger, not
what was last seen of pods, says how many attempts are live: an attempt holds its slot from before
its pod is created until its row is stored.
"""

from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from agentbench.api.conditions import Condition
from agentbench.api.run import AdjudicationEntry, AttemptStatus, RunStatus
from agentbench.app.campaign import Campaign
from agentbench.core.attempt import Recorded, next_attempt
from agentbench.core.decide import Live
from agentbench.core.standing import Standing
from agentbench_analysis.rows.words import Cause, Outcome

RECORDED = "Recorded"
READY, MULTIPLE_PODS = "Ready", "MultiplePods"

Key = tuple[str, int]
"""A run's id and the number of its attempt."""


@dataclass(slots=True, kw_only=True)
class RunFacts:
    """One run that was admitted: its object, its attempts, and its conditions by type."""

    run: str
    name: str
    uid: str
    attempts: tuple[AttemptStatus, ...] = ()
    conditions: dict[str, Condition] = field(default_factory=dict)
    adjudications: tuple[AdjudicationEntry, ...] = ()

    @property
    def current(self) -> AttemptStatus | None:
        """The attempt that is under way: the last one, until it has a row."""
        last = self.attempts[-1] if self.attempts else None
        return None if last is None or last.row_key else last

    @property
    def tainted(self) -> bool:
        """Whether the attempt that is under way was seen with two pods."""
        condition = self.conditions.get(MULTIPLE_PODS)
        return condition is not None and condition.status == "True"

    def recorded(self) -> list[Recorded]:
        """The facts of the attempts that have a row."""
        return [fact_of(self.run, attempt) for attempt in self.attempts if attempt.row_key]

    def recorded_at(self) -> str | None:
        """When the last row was written, UTC; None while an attempt is under way."""
        ready = self.conditions.get(READY)
        if self.current is not None or ready is None or ready.status != "True":
            return None
        return ready.last_transition_time

    def say(self, kind: str, status: bool, reason: str, message: str, now: datetime) -> None:
        """Set a condition; its time stays unless it flips."""
        said = Condition(
            type=kind,
            status="True" if status else "False",
            reason=reason,
            message=message[:2000],
            last_transition_time=now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        )
        before = self.conditions.get(kind)
        if before is not None and before.status == said.status:
            said = said.model_copy(update={"last_transition_time": before.last_transition_time})
        self.conditions[kind] = said


@dataclass(slots=True)
class Ledger:
    """All admitted runs of one campaign, by run id."""

    standing: Standing
    runs: dict[str, RunFacts] = field(default_factory=dict)
    orphans: dict[str, tuple[AttemptStatus, ...]] = field(default_factory=dict)
    """Recorded attempts whose run object is gone: they count, and nothing is run again."""
    deleted: set[str] = field(default_factory=set)
    """Live runs whose object somebody deleted: they end, and get an aborted row."""
    foreign: dict[str, str] = field(default_factory=dict)
    """Rows under keys of ours that are not ours, by run: what is wrong with each."""
    adjudicated: set[str] = field(default_factory=set)
    """Runs about which people have said something."""
    rows: int = 0
    """Attempts that have a row."""
    _live: dict[str, RunFacts] = field(default_factory=dict)

    @classmethod
    async def load(cls, campaign: Campaign, objects: AsyncIterator[Mapping[str, Any]]) -> "Ledger":
        """Read every run object of a campaign."""
        ledger = cls(Standing(campaign.runs, campaign.limits.cap))
        async for raw in objects:
            entry = run_facts(raw)
            known = entry.recorded()
            ledger.standing.add(known)
            ledger.rows += len(known)
            ledger.admit(entry)
            if entry.adjudications:
                ledger.adjudicated.add(entry.run)
        return ledger

    def admit(self, entry: RunFacts) -> None:
        """Take in a run whose object is there."""
        self.runs[entry.run] = entry
        if entry.current is not None:
            self._live[entry.run] = entry
            self.standing.started(entry.run)

    def rerun(self, entry: RunFacts, attempt: AttemptStatus) -> None:
        """Take note of a second attempt."""
        entry.attempts += (attempt,)
        self.admit(entry)

    def record(self, entry: RunFacts, attempts: tuple[AttemptStatus, ...], fact: Recorded) -> None:
        """Take note that the current attempt of a run has its row."""
        entry.attempts = attempts
        self._live.pop(entry.run, None)
        self.standing.recorded(fact)
        self.rows += 1

    def orphan(self, run: str, attempt: AttemptStatus) -> None:
        """Take note of a row whose run object is gone."""
        self.orphans[run] = (*self.orphans.get(run, ()), attempt)
        self.standing.recorded(fact_of(run, attempt))
        self.rows += 1

    def done(self, run: str) -> bool:
        """Whether a run is recorded for good."""
        entry = self.runs.get(run)
        attempts = entry.attempts if entry else self.orphans.get(run, ())
        rows = [fact_of(run, attempt) for attempt in attempts if attempt.row_key]
        return bool(rows) and next_attempt(rows) is None

    def judge(self, run: str, said: tuple[AdjudicationEntry, ...]) -> bool:
        """Take note of what people say of a run; whether it is new."""
        entry = self.runs.get(run)
        if entry is None or len(said) <= len(entry.adjudications):
            return False
        entry.adjudications = said
        self.adjudicated.add(run)
        return True

    def settle(self, run: str) -> None:
        """Keep what is recorded of a run whose object is gone."""
        if run in self.deleted and run in self.runs:
            entry = self.runs.pop(run)
            self.orphans[run] = tuple(each for each in entry.attempts if each.row_key)
            self.deleted.discard(run)

    def live(self) -> list[tuple[RunFacts, AttemptStatus]]:
        """The attempts that are under way."""
        return [
            (entry, attempt)
            for entry in self._live.values()
            if (attempt := entry.current) is not None
        ]

    def under_way(self, runs: Iterable[str]) -> list[RunFacts]:
        """Those of some runs that have an attempt under way."""
        return [entry for run in runs if (entry := self._live.get(run)) is not None]

    def as_live(self) -> list[Live]:
        """The same, as decisions see it."""
        return [Live(run=entry.run, attempt=attempt.number) for entry, attempt in self.live()]


def run_facts(raw: Mapping[str, Any]) -> RunFacts:
    """Read a run object; one without a status was created and not looked at since."""
    status = RunStatus.model_validate(raw["status"]) if raw.get("status") else RunStatus()
    attempts = status.attempts or (AttemptStatus(number=1, phase="Pending"),)
    return RunFacts(
        run=raw["spec"]["run"],
        name=raw["metadata"]["name"],
        uid=raw["metadata"]["uid"],
        attempts=attempts,
        conditions={each.type: each for each in status.conditions},
        adjudications=tuple(
            AdjudicationEntry.model_validate(said)
            for said in raw["spec"].get("adjudications") or ()
        ),
    )


def fact_of(run: str, attempt: AttemptStatus) -> Recorded:
    """What decisions need of a recorded attempt."""
    return Recorded(
        run=run,
        attempt=attempt.number,
        outcome=attempt.outcome or Outcome.ABORTED,
        cause=Cause(attempt.cause) if attempt.cause else None,
        cost=_money(attempt.cost_usd),
    )


def _money(text: str | None) -> Decimal | None:
    try:
        return Decimal(text) if text is not None else None
    except InvalidOperation:
        return None
