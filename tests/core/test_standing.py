"""What is added up event by event says the same as reading everything again."""

from dataclasses import dataclass, field
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.build import a_campaign

from agentbench.core.admission import Limits
from agentbench.core.attempt import Recorded
from agentbench.core.decide import Decision, Live, Observed, decide
from agentbench.core.plan import PlannedRun, plan
from agentbench.core.standing import Standing
from agentbench_analysis.rows.words import Cause, Outcome

CAP = Decimal(5)
ENDS = st.tuples(
    st.integers(0, 50),
    st.sampled_from([Outcome.PASS, Outcome.FAIL, Outcome.ABORTED]),
    st.sampled_from(list(Cause)),
    st.one_of(st.none(), st.decimals(0, 5, places=2)),
)


@dataclass
class World:
    """Live attempts and rows, and their standing."""

    runs: tuple[PlannedRun, ...]
    limits: Limits
    standing: Standing
    recorded: list[Recorded] = field(default_factory=list)
    live: list[Live] = field(default_factory=list)

    def decisions(self, *, suspend: bool, cancel: bool) -> tuple[Decision, Decision]:
        """By reading everything, and by what was added up."""
        seen = Observed(recorded=self.recorded, live=self.live, suspend=suspend, cancel=cancel)
        return (
            decide(self.runs, self.limits, seen),
            self.standing.decide(self.limits, self.live, suspend=suspend, cancel=cancel),
        )

    def obey(self, decision: Decision) -> None:
        for start in decision.start:
            self.live.append(Live(run=start.run.id, attempt=start.attempt))
            self.standing.started(start.run.id)

    def end(self, which: int, outcome: Outcome, cause: Cause, cost: Decimal | None) -> None:
        entry = self.live.pop(which % len(self.live))
        fact = Recorded(
            run=entry.run,
            attempt=entry.attempt,
            outcome=outcome,
            cause=cause if outcome is Outcome.FAIL else None,
            cost=cost,
        )
        self.recorded.append(fact)
        self.standing.recorded(fact)


def a_world(parallelism: int, budget: Decimal | None) -> World:
    runs = plan(a_campaign(tasks=2, stacks=2, agents=1, repeats=3))
    limits = Limits(parallelism=parallelism, cap=CAP, budget=budget)
    return World(runs, limits, Standing(runs, CAP))


@given(
    parallelism=st.integers(1, 5),
    budget=st.one_of(st.none(), st.decimals(0, 70, places=0)),
    ends=st.lists(ENDS, max_size=40),
    suspended=st.sets(st.integers(0, 40)),
    cancelled=st.one_of(st.none(), st.integers(0, 40)),
)
def test_it_decides_as_a_look_at_every_row_does(
    parallelism: int,
    budget: Decimal | None,
    ends: list[tuple[int, Outcome, Cause, Decimal | None]],
    suspended: set[int],
    cancelled: int | None,
) -> None:
    world = a_world(parallelism, budget)
    for number, end in enumerate(ends):
        stopped = cancelled is not None and number >= cancelled
        whole, summed = world.decisions(suspend=number in suspended, cancel=stopped)
        assert summed == whole
        world.obey(summed)
        if world.live:
            world.end(*end)
    whole, summed = world.decisions(suspend=False, cancel=False)
    assert summed == whole


def test_a_row_of_a_run_that_is_not_planned_costs_money_and_nothing_else() -> None:
    world = a_world(2, None)
    fact = Recorded(
        run="elsewhere", attempt=1, outcome=Outcome.FAIL, cause=Cause.TASK, cost=Decimal(3)
    )
    world.standing.recorded(fact)
    tally = world.standing.decide(world.limits, (), suspend=False, cancel=False).tally
    assert (tally.spent, tally.done) == (Decimal(3), 0)


def test_a_run_that_is_started_twice_is_not_needed_twice() -> None:
    world = a_world(1, None)
    first = world.runs[0].id
    world.standing.started(first)
    world.standing.started(first)
    starts = world.standing.decide(world.limits, (), suspend=False, cancel=False).start
    assert [start.run.id for start in starts] == [world.runs[1].id]
