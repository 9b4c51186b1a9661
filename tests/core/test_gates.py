from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from agentbench.core.gate import CostGate, ToolGate, Verdict

CAP = Decimal(5)
CENTS = st.integers(0, 300).map(lambda cents: Decimal(cents) / 100)


def test_a_call_goes_out_while_spend_is_below_the_cap_whatever_it_may_cost() -> None:
    gate = CostGate(CAP, spent=Decimal("4.80"), dearest=Decimal("0.60"))
    assert gate.decide() is Verdict.GO
    gate = gate.out().back(Decimal("0.60"))
    assert (gate.spent, gate.overshoot) == (Decimal("5.40"), Decimal("0.40"))
    assert gate.decide() is Verdict.REFUSE


def test_spend_equal_to_the_cap_is_not_below_it() -> None:
    assert CostGate(CAP, spent=CAP).decide() is Verdict.REFUSE
    assert CostGate(CAP, spent=CAP).overshoot == 0


def test_of_two_parallel_calls_near_the_cap_one_waits() -> None:
    gate = CostGate(CAP, spent=Decimal("4.95"), dearest=Decimal("0.10"))
    assert gate.decide() is Verdict.GO
    assert gate.out().decide() is Verdict.WAIT


def test_far_from_the_cap_calls_go_out_together() -> None:
    gate = CostGate(CAP, spent=Decimal(1), dearest=Decimal("0.10"))
    for _ in range(20):
        assert gate.decide() is Verdict.GO
        gate = gate.out()


def test_without_a_cap_everything_goes_out() -> None:
    assert CostGate(None, spent=Decimal(10_000)).out().decide() is Verdict.GO


def test_a_call_cannot_come_back_twice_or_cost_less_than_nothing() -> None:
    gate = CostGate(CAP).out()
    with pytest.raises(ValueError, match="cannot cost -1"):
        gate.back(Decimal(-1))
    with pytest.raises(ValueError, match="never went out"):
        gate.back(Decimal(1)).back(Decimal(1))


class Spending(RuleBasedStateMachine):
    """Calls go out and come back in any order, none dearer than the dearest before it."""

    def __init__(self) -> None:
        super().__init__()
        self.dearest = Decimal("0.70")
        self.gate = CostGate(CAP, spent=Decimal("0.70"), dearest=self.dearest)
        self.out = 0

    @rule()
    def ask(self) -> None:
        verdict = self.gate.decide()
        if self.out == 0:
            assert verdict is not Verdict.WAIT
        if verdict is Verdict.GO:
            self.gate = self.gate.out()
            self.out += 1

    @precondition(lambda self: self.out > 0)
    @rule(cost=st.integers(0, 70))
    def come_back(self, cost: int) -> None:
        self.gate = self.gate.back(Decimal(cost) / 100)
        self.out -= 1

    @precondition(lambda self: self.out > 0)
    @rule()
    def never_sent(self) -> None:
        self.gate = self.gate.unsent()
        self.out -= 1

    @invariant()
    def spend_passes_the_cap_by_less_than_one_call(self) -> None:
        assert self.gate.overshoot < self.dearest
        assert self.gate.in_flight == self.out


TestSpending = Spending.TestCase


@given(st.lists(CENTS, min_size=1, max_size=60))
def test_calls_one_after_the_other_are_refused_only_at_the_cap(costs: list[Decimal]) -> None:
    gate = CostGate(CAP)
    for cost in costs:
        before = gate.spent
        verdict = gate.decide()
        assert (verdict is Verdict.GO) == (before < CAP)
        if verdict is Verdict.GO:
            gate = gate.out().back(cost)
    assert gate.overshoot <= max(costs)


@given(cap=st.integers(0, 500), asked=st.integers(0, 700))
def test_exactly_as_many_tool_calls_as_the_cap_are_allowed(cap: int, asked: int) -> None:
    gate = ToolGate(cap)
    for _ in range(asked):
        gate = gate.ask()
    assert gate.allowed == min(cap, asked)
    assert gate.refused == max(0, asked - cap)
    assert gate.hit == (asked > cap)


def test_tool_calls_that_were_only_seen_may_pass_the_cap_and_say_so() -> None:
    assert not ToolGate(400, allowed=399).seen(1).hit
    assert ToolGate(400, allowed=399).seen(3).hit
