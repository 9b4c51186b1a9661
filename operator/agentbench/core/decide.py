"""What to do now: a pure function of the plan and of what was observed."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from agentbench.core.admission import Limits, Load, admit
from agentbench.core.attempt import Recorded, next_attempt
from agentbench.core.plan import PlannedRun
from agentbench_analysis.rows.words import Outcome


class CampaignPhase(StrEnum):
    """Where a campaign stands, in one word."""

    RUNNING = "Running"
    SUSPENDED = "Suspended"
    CANCELLING = "Cancelling"
    OUT_OF_BUDGET = "OutOfBudget"
    COMPLETE = "Complete"
    CANCELLED = "Cancelled"

    @property
    def ended(self) -> bool:
        """Whether no run of it will start any more."""
        return self in (CampaignPhase.COMPLETE, CampaignPhase.CANCELLED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """An attempt that has started and has no row yet."""

    run: str
    attempt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """All that is known of a campaign at one instant.

    `lingering` are attempts that have a row and whose pod is still there, out of reach: it may
    still run. They hold their slot, and their run is not started again before they are gone.
    """

    recorded: Sequence[Recorded] = ()
    live: Sequence[Live] = ()
    lingering: Sequence[Live] = ()
    suspend: bool = False
    cancel: bool = False
    blocked: bool = False  # nothing may start now, for a reason that is not the user's


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Start this attempt of this run."""

    run: PlannedRun
    attempt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Numbers of runs, and money in US dollars."""

    total: int
    done: int
    live: int
    passed: int
    failed: int
    infra: int
    aborted: int
    spent: Decimal
    reserved: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What to start, what to end, and where the campaign stands."""

    start: tuple[Start, ...]
    abort: tuple[Live, ...]
    phase: CampaignPhase
    tally: Tally


def decide(runs: Sequence[PlannedRun], limits: Limits, seen: Observed) -> Decision:
    """Decide what to start and to end.

    An attempt of unknown cost counts with its whole cap: money that may have been spent is
    never spent twice.
    """
    rows: Mapping[str, list[Recorded]] = _by_run(seen.recorded)
    live = {entry.run for entry in seen.live}
    lingering = {entry.run for entry in seen.lingering}
    needed = [(run, next_attempt(rows.get(run.id, ()))) for run in runs]
    waiting = [
        Start(run=run, attempt=attempt)
        for run, attempt in needed
        if attempt is not None and run.id not in live
    ]
    ready = [start for start in waiting if start.run.id not in lingering]
    spent = sum((limits.cap if r.cost is None else r.cost for r in seen.recorded), Decimal(0))
    load = Load(live=len(seen.live) + len(seen.lingering), reserved=len(seen.live), spent=spent)
    stopped = seen.suspend or seen.cancel or seen.blocked
    start = () if stopped else admit(limits, load, ready)
    phase = phase_of(
        suspend=seen.suspend,
        cancel=seen.cancel,
        live=bool(seen.live),
        waiting=bool(waiting),
        starting=bool(start) or seen.blocked or bool(seen.lingering),
    )
    return Decision(
        start=start,
        abort=tuple(seen.live) if seen.cancel else (),
        phase=phase,
        tally=_tally(runs, rows, seen, limits, spent),
    )


def phase_of(
    *, suspend: bool, cancel: bool, live: bool, waiting: bool, starting: bool
) -> CampaignPhase:
    """Where a campaign stands, from what is live, what waits and what starts now (or soon)."""
    if cancel:
        return CampaignPhase.CANCELLING if live else CampaignPhase.CANCELLED
    if not waiting and not live:
        return CampaignPhase.COMPLETE
    if suspend:
        return CampaignPhase.SUSPENDED
    if not starting and not live:
        return CampaignPhase.OUT_OF_BUDGET
    return CampaignPhase.RUNNING


def _by_run(recorded: Sequence[Recorded]) -> Mapping[str, list[Recorded]]:
    rows: defaultdict[str, list[Recorded]] = defaultdict(list)
    for row in recorded:
        rows[row.run].append(row)
    return rows


def _tally(
    runs: Sequence[PlannedRun],
    rows: Mapping[str, list[Recorded]],
    seen: Observed,
    limits: Limits,
    spent: Decimal,
) -> Tally:
    last = {run: max(found, key=lambda row: row.attempt) for run, found in rows.items()}
    done = [run for run in runs if run.id in last and next_attempt(rows[run.id]) is None]
    ends = [last[run.id] for run in done]
    return Tally(
        total=len(runs),
        done=len(done),
        live=len(seen.live),
        passed=sum(row.outcome is Outcome.PASS for row in ends),
        failed=sum(row.outcome is Outcome.FAIL and not row.infra for row in ends),
        infra=sum(row.infra for row in seen.recorded),
        aborted=sum(row.outcome is Outcome.ABORTED for row in ends),
        spent=spent,
        reserved=limits.cap * len(seen.live),
    )
