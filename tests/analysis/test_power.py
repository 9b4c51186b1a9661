"""The power simulation: it tells the truth about small campaigns."""

from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from numpy.random import PCG64, Generator
from tests.fakes.rows import a_spec

from agentbench_analysis.errors import AnalysisError
from agentbench_analysis.facade import power, power_svg, power_tables
from agentbench_analysis.power.assumptions import assumptions_from
from agentbench_analysis.power.model import Power
from agentbench_analysis.power.repeats import equal_stacks
from agentbench_analysis.power.world import World

Assumed = dict[str, Any]


def stack(rate: float, cost: float = 1.0, time: float = 600.0, **more: float) -> Assumed:
    return {"pass": rate, "costMedian": cost, "timeMedian": time, **more}


def assumed(one: Assumed, two: Assumed, three: Assumed, **more: Any) -> Assumed:
    return {"stacks": {"AB-S1": one, "AB-S2": two, "AB-S3": three}, **more}


EQUAL = assumed(stack(0.75), stack(0.75), stack(0.75), campaigns=40, resamples=200)


@pytest.fixture(scope="module")
def equal() -> Power:
    return power(a_spec(), EQUAL, seed=1)


def test_equal_stacks_seldom_pass_the_first_hypothesis() -> None:
    spec = a_spec(analysis={"resamples": 1_000})
    found = equal_stacks(spec, 500, seed=1)
    assert [each.pass_rate for each in found] == [0.70, 0.75, 0.80]
    for each in found:
        assert 0.12 <= each.holds <= 0.29  # 15 to 25 %, with the noise of 500 campaigns


def test_what_equal_stacks_can_show_is_said_in_every_simulation(equal: Power) -> None:
    (line,) = (text for text in equal.statements if "equal stacks" in text)
    assert "AB-H1 with equal stacks at 70 to 80 % holds in only" in line


def test_chances_of_a_verdict_add_up_to_one(equal: Power) -> None:
    for each in equal.chances:
        assert each.holds + each.not_shown + each.not_computable == pytest.approx(1)
        assert each.lower <= each.holds <= each.upper
    names = [each.id for each in equal.chances]
    assert names == [
        "AB-H1",
        "AB-H2",
        "AB-H3",
        "AB-H4",
        "AB-C1",
        "AB-C2",
        "AB-C3",
        "headline",
    ]


def test_the_same_seed_gives_the_same_simulation_and_another_does_not() -> None:
    few = EQUAL | {"campaigns": 5, "resamples": 50}
    spec = a_spec(tasks=[{"id": "AB-T01", "name": "One"}])
    one, same, other = (power(spec, few, seed) for seed in (1, 1, 2))
    assert one == same
    assert one.spending != other.spending


def test_a_far_better_stack_holds_everything() -> None:
    better = assumed(stack(0.98, 0.3, 200.0), stack(0.5), stack(0.5), campaigns=40, resamples=300)
    found = power(a_spec(), better, seed=1)
    assert {each.id: each.holds for each in found.chances}["headline"] >= 0.95
    assert {each.repeats for each in found.needed} == {5}


def test_a_claim_that_is_false_is_seldom_shown_and_needs_no_end_of_runs() -> None:
    worse = assumed(stack(0.75, 1.2), stack(0.75), stack(0.75), campaigns=40, resamples=200)
    found = power(a_spec(tasks=[{"id": "AB-T01", "name": "One"}]), worse, seed=1)
    chances = {each.id: each.holds for each in found.chances}
    assert chances["AB-H2"] <= 0.05
    cost = next(each for each in found.needed if each.hypothesis == "AB-H2")
    assert cost.repeats is None
    assert any("AB-H2 does not reach 80 % power" in line for line in found.statements)


def test_spend_is_bounded_by_caps_and_counts_reruns() -> None:
    dear = assumed(*[stack(0.7, 4.0)] * 3, campaigns=20, resamples=50)
    plain = power(a_spec(), dear, seed=1).spending
    assert plain.worst == 900
    assert plain.worst_reruns == 1800
    assert plain.expected < plain.within_95 < plain.worst
    assert plain.over_budget == 0
    rerun = power(a_spec(), dear | {"infra": 0.5}, seed=1).spending
    assert rerun.expected > plain.expected * 1.4
    assert rerun.over_budget is not None
    assert rerun.over_budget > 0.5


def test_the_truth_of_a_world_is_what_many_runs_show() -> None:
    shifts = {"tasks": {"AB-T01": {"pass": -0.3, "cost": 3.0}}, "agents": {"AB-A2": {"time": 2.0}}}
    document = assumed(stack(0.9), stack(0.6, 2.0), stack(0.5, 3.0, 300.0)) | shifts
    spec = a_spec(repeats=3_000)
    world = World.of(spec, assumptions_from(document, spec, "assumptions"))
    sample, _, _ = world.draw(Generator(PCG64(5)))
    truth = world.truth()
    for name in ("AB-S1", "AB-S2", "AB-S3"):
        cells = sample.of_stack(name)
        rate = sum(cell.line.passed for cell in cells) / sum(cell.line.scored for cell in cells)
        assert rate == pytest.approx(truth.pass_rate[name], abs=0.01)
        cost = np.nanmedian(np.concatenate([cell.cost for cell in cells]))
        time = np.nanmedian(np.concatenate([cell.seconds for cell in cells]))
        assert float(cost) == pytest.approx(truth.cost[name], rel=0.03)
        assert float(time) == pytest.approx(truth.time[name], rel=0.03)


def test_infrastructure_failures_leave_cells_incomplete() -> None:
    spec = a_spec()
    document = assumed(*[stack(0.7)] * 3, infra=0.5)
    sample, _, _ = World.of(spec, assumptions_from(document, spec, "a")).draw(Generator(PCG64(1)))
    scored = sum(cell.line.scored for cell in sample.cells)
    assert scored == pytest.approx(180 * 0.75, rel=0.15)


def test_coverage_is_simulated_for_every_interval(equal: Power) -> None:
    names = {each.interval for each in equal.coverage}
    assert names == {
        "pass-rate/stack/AB-S1",
        "pass-rate/stack/AB-S2",
        "pass-rate/stack/AB-S3",
        "AB-H1",
        "AB-H2",
        "AB-H3",
    }
    wilson = next(each for each in equal.coverage if each.interval == "pass-rate/stack/AB-S1")
    assert wilson.truth == 0.75
    assert wilson.covered >= 0.8


def test_progress_counts_campaigns() -> None:
    seen: list[tuple[int, int]] = []
    few = EQUAL | {"campaigns": 3, "resamples": 20}
    spec = a_spec(tasks=[{"id": "AB-T01", "name": "One"}])
    power(spec, few, seed=1, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_the_picture_is_well_formed_and_says_in_words_what_it_shows(equal: Power) -> None:
    root = ElementTree.fromstring(power_svg(equal))
    space = {"s": "http://www.w3.org/2000/svg"}
    description = root.findtext("s:desc", namespaces=space)
    assert description is not None
    assert "equal stacks" in description
    assert len(root.findall("s:polyline", space)) == 4


def test_the_tables_hold_the_statements(equal: Power) -> None:
    chances, *_ = power_tables(equal)
    assert set(equal.statements) <= set(chances.notes)


WRONG: dict[str, tuple[Assumed, str]] = {
    "a stack is missing": ({"stacks": {"AB-S1": stack(0.5)}}, "stacks.AB-S2"),
    "a rate in percent": (assumed(stack(75), stack(0.5), stack(0.5)), "stacks.AB-S1.pass"),
    "a cost of nothing": (
        assumed(stack(0.5, 0.0), stack(0.5), stack(0.5)),
        "stacks.AB-S1.costMedian",
    ),
    "a spread below zero": (
        assumed(stack(0.5, timeSpread=-1.0), stack(0.5), stack(0.5)),
        "stacks.AB-S1.timeSpread",
    ),
    "an unknown task": (EQUAL | {"tasks": {"AB-T99": {}}}, "tasks.AB-T99"),
    "no campaign": (EQUAL | {"campaigns": 0}, "campaigns"),
    "infra above one": (EQUAL | {"infra": 2.0}, "infra"),
    "an unknown field": (EQUAL | {"luck": 1}, "luck"),
    "no pass rate": (
        assumed({"costMedian": 1.0, "timeMedian": 1.0}, stack(0.5), stack(0.5)),
        "stacks.AB-S1.pass",
    ),
}


@pytest.mark.parametrize("kind", WRONG)
def test_impossible_assumptions_are_refused_by_their_field(kind: str) -> None:
    document, field = WRONG[kind]
    with pytest.raises(AnalysisError) as caught:
        power(a_spec(), document, seed=1, file="assume.yaml")
    assert (caught.value.file, caught.value.field) == ("assume.yaml", field)
