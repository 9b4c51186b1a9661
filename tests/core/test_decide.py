"""Decisions hold parallelism and budget under any order of events, and always end."""

from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.build import a_campaign

from agentbench.core.admission import Limits
from agentbench.core.attempt import Recorded, next_attempt
from agentbench.core.decide import CampaignPhase, Live, Observed, decide
from agentbench.core.plan import PlannedRun, plan
from agentbench_analysis.rows.words import Cause, Outcome

CAP = Decimal(5)
ENDS = st.tuples(
    st.sampled_from([Outcome.PASS, Outcome.FAIL, Outcome.ABORTED]),
    st.sampled_from(list(Cause)),
    st.one_of(st.none(), st.decimals(0, 5, places=2)),
)


@dataclass
class World:
    """A world that obeys decisions and ends live attempts in any order."""

    runs: tuple[PlannedRun, ...]
    limits: Limits
    recorded: list[Recorded] = field(default_factory=list)
    live: list[Live] = field(default_factory=list)
    started: list[tuple[str, int]] = field(default_factory=list)

    def obey(self) -> CampaignPhase:
        decision = decide(self.runs, self.limits, Observed(recorded=self.recorded, live=self.live))
        for start in decision.start:
            self.live.append(Live(run=start.run.id, attempt=start.attempt))
            self.started.append((start.run.id, start.attempt))
        return decision.phase

    def end(self, which: int, outcome: Outcome, cause: Cause, cost: Decimal | None) -> None:
        entry = self.live.pop(which % len(self.live))
        self.recorded.append(
            Recorded(
                run=entry.run,
                attempt=entry.attempt,
                outcome=outcome,
                cause=cause if outcome is Outcome.FAIL else None,
                cost=cost,
            )
        )

    def worst_case(self) -> Decimal:
        spent = sum((CAP if row.cost is None else row.cost for row in self.recorded), Decimal(0))
        return spent + CAP * len(self.live)


@given(
    parallelism=st.integers(1, 5),
    budget=st.one_of(st.none(), st.decimals(0, 200, places=2)),
    events=st.lists(st.tuples(st.integers(0, 9), ENDS), max_size=80),
)
def test_parallelism_and_budget_hold_and_every_attempt_starts_once(
    parallelism: int,
    budget: Decimal | None,
    events: list[tuple[int, tuple[Outcome, Cause, Decimal | None]]],
) -> None:
    limits = Limits(parallelism=parallelism, cap=CAP, budget=budget)
    world = World(plan(a_campaign(tasks=2, stacks=2, agents=2, repeats=2)), limits)
    for which, end in events:
        world.obey()
        assert len(world.live) <= parallelism
        assert budget is None or world.worst_case() <= budget
        assert len(set(world.started)) == len(world.started)
        if not world.live:
            break
        world.end(which, *end)


@given(seed=st.integers(0, 2**32), parallelism=st.integers(1, 5), data=st.data())
def test_a_campaign_without_a_budget_always_completes(
    seed: int, parallelism: int, data: st.DataObject
) -> None:
    runs = plan(a_campaign(tasks=1, order={"seed": seed}))
    world = World(runs, Limits(parallelism=parallelism, cap=CAP))
    while world.obey() is not CampaignPhase.COMPLETE:
        world.end(data.draw(st.integers(0, 9)), *data.draw(ENDS))
    for run in runs:
        rows = [row for row in world.recorded if row.run == run.id]
        assert next_attempt(rows) is None
        assert [row.attempt for row in rows] in ([1], [1, 2])


def infra(run: str, attempt: int) -> Recorded:
    return Recorded(
        run=run, attempt=attempt, outcome=Outcome.FAIL, cause=Cause.INFRA, cost=Decimal(1)
    )


def test_an_infra_failure_is_rerun_once_and_never_twice() -> None:
    assert next_attempt([infra("r", 1)]) == 2
    assert next_attempt([infra("r", 1), infra("r", 2)]) is None


def test_a_failed_task_is_never_rerun() -> None:
    row = Recorded(run="r", attempt=1, outcome=Outcome.FAIL, cause=Cause.TASK, cost=None)
    assert next_attempt([row]) is None


def test_runs_start_in_the_frozen_order() -> None:
    runs = plan(a_campaign())
    decision = decide(runs, Limits(parallelism=4, cap=CAP), Observed())
    orders = [start.run.order for start in decision.start]
    assert orders == [0, 1, 2, 3]
    assert all(one < other for one, other in pairwise(orders))


def test_a_pod_out_of_reach_holds_its_slot_and_its_run_until_it_is_gone() -> None:
    runs = plan(a_campaign())
    limits = Limits(parallelism=2, cap=CAP)
    recorded = [infra(runs[0].id, 1)]
    there = [Live(run=runs[0].id, attempt=1)]
    held = decide(runs, limits, Observed(recorded=recorded, lingering=there))
    assert [(start.run.id, start.attempt) for start in held.start] == [(runs[1].id, 1)]
    gone = decide(runs, limits, Observed(recorded=recorded))
    assert (gone.start[0].run.id, gone.start[0].attempt) == (runs[0].id, 2)


def test_a_campaign_that_waits_for_a_lost_pod_alone_is_neither_complete_nor_out_of_budget() -> None:
    runs = plan(a_campaign(tasks=1, stacks=1, agents=1, repeats=1))
    lingering = [Live(run=runs[0].id, attempt=1)]
    seen = Observed(recorded=[infra(runs[0].id, 1)], lingering=lingering)
    found = decide(runs, Limits(parallelism=2, cap=CAP, budget=Decimal(100)), seen)
    assert (found.start, found.phase) == ((), CampaignPhase.RUNNING)


def test_suspending_stops_admission_and_cancelling_ends_what_is_live() -> None:
    runs = plan(a_campaign())
    limits = Limits(parallelism=4, cap=CAP)
    live = [Live(run=runs[0].id, attempt=1)]
    suspended = decide(runs, limits, Observed(live=live, suspend=True))
    assert (suspended.start, suspended.abort) == ((), ())
    assert suspended.phase is CampaignPhase.SUSPENDED
    cancelled = decide(runs, limits, Observed(live=live, cancel=True))
    assert (cancelled.start, list(cancelled.abort)) == ((), live)
    assert cancelled.phase is CampaignPhase.CANCELLING


def test_a_budget_that_is_used_up_is_said_and_not_waited_for() -> None:
    runs = plan(a_campaign())
    limits = Limits(parallelism=4, cap=CAP, budget=Decimal("4.99"))
    assert decide(runs, limits, Observed()).phase is CampaignPhase.OUT_OF_BUDGET
