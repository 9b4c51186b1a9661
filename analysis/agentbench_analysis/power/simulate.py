"""Simulated campaigns through the frozen analysis itself: no second set of formulas."""

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.random import PCG64, Generator, SeedSequence

from agentbench_analysis.codec import settled
from agentbench_analysis.intervals.wilson import Wilson
from agentbench_analysis.power.assumptions import Assumptions
from agentbench_analysis.power.model import Chance, Coverage, Power, Spending
from agentbench_analysis.power.repeats import curve_and_needs, equal_stacks
from agentbench_analysis.power.words import statements
from agentbench_analysis.power.world import Truth, World
from agentbench_analysis.results.figures import rate_figure
from agentbench_analysis.results.model import Decision, Figure
from agentbench_analysis.sample.cells import Sample
from agentbench_analysis.spec import AnalysisSpec, Rule
from agentbench_analysis.verdict.decide import together
from agentbench_analysis.verdict.ground import Ground
from agentbench_analysis.verdict.pass_rate import decide_pass_rate
from agentbench_analysis.verdict.ratio import decide_ratio, medians_of

Progress = Callable[[int, int], None]


def _silent(done: int, total: int) -> None:
    """Progress that nobody watches."""


class Simulated(NamedTuple):
    """One simulated campaign."""

    decisions: dict[str, Decision]
    intervals: dict[str, Figure]
    spend: float


def simulate(
    spec: AnalysisSpec, assumed: Assumptions, seed: int, progress: Progress = _silent
) -> Power:
    """Run the frozen analysis on campaigns drawn from assumptions.

    `progress` is called with campaigns done and campaigns in all. The frozen number of
    resamples is replaced by the assumptions' one, and a draft is treated as frozen.
    """
    spec = dataclasses.replace(spec, draft=False, resamples=assumed.resamples)
    world = World.of(spec, assumed)
    done = _campaigns(spec, world, assumed.campaigns, seed, progress)
    curve, needed = curve_and_needs(spec, assumed, seed)
    chances = tuple(_chances(spec, done))
    equal = equal_stacks(spec, assumed.campaigns, seed)
    spending = _spending(spec, [each.spend for each in done])
    return Power(
        protocol=spec.protocol,
        repeats=spec.repeats,
        runs=spec.planned_runs,
        seed=seed,
        assumptions=assumed,
        chances=chances,
        coverage=tuple(_coverage(spec, world.truth(), done)),
        spending=spending,
        equal_stacks=equal,
        curve=curve,
        needed=needed,
        statements=statements(spec, assumed, chances, spending, equal, needed),
    )


def _campaigns(
    spec: AnalysisSpec, world: World, campaigns: int, seed: int, progress: Progress
) -> list[Simulated]:
    source = Generator(PCG64(SeedSequence(seed)))
    done: list[Simulated] = []
    for _ in range(campaigns):
        done.append(_one(spec, world, source))
        progress(len(done), campaigns)
    return done


def _one(spec: AnalysisSpec, world: World, source: Generator) -> Simulated:
    sample, spend, failures = world.draw(source)
    ground = Ground(spec, sample, ())
    medians = medians_of(ground)
    decisions: dict[str, Decision] = {}
    intervals = dict(_rates(spec, sample))
    for each in spec.hypotheses:
        if each.rule is Rule.SECURITY:
            decisions[each.id] = Decision.NOT_SHOWN if failures else Decision.HOLDS
            continue
        ruling = (
            decide_pass_rate(ground, each)
            if each.rule is Rule.PASS
            else decide_ratio(ground, each, medians[each.rule])
        )
        decisions[each.id] = ruling.finding.decision
        if ruling.figures:
            intervals[each.id] = ruling.figures[0]
    for claim in spec.claims:
        decisions[claim.id] = together([decisions[ident] for ident in claim.hypotheses])
    decisions["headline"] = together([decisions[claim.id] for claim in spec.claims])
    return Simulated(decisions, intervals, spend)


def _rates(spec: AnalysisSpec, sample: Sample) -> Iterator[tuple[str, Figure]]:
    for stack in spec.stacks:
        lines = [cell.line for cell in sample.of_stack(stack.id)]
        passed, scored = sum(x.passed for x in lines), sum(x.scored for x in lines)
        name = f"pass-rate/stack/{stack.id}"
        yield name, rate_figure(name, name, passed, scored, spec.confidence)


def _chances(spec: AnalysisSpec, done: Sequence[Simulated]) -> Iterator[Chance]:
    names = [(each.id, each.statement) for each in spec.hypotheses]
    names += [(each.id, each.statement) for each in spec.claims]
    for ident, statement in [*names, ("headline", spec.headline)]:
        found = [each.decisions[ident] for each in done]
        held = found.count(Decision.HOLDS)
        around = Wilson(held, len(found), 0.95)
        yield Chance(
            id=ident,
            statement=statement,
            holds=settled(held / len(found)),
            not_shown=settled(found.count(Decision.NOT_SHOWN) / len(found)),
            not_computable=settled(found.count(Decision.NOT_COMPUTABLE) / len(found)),
            lower=settled(around.lower or 0.0),
            upper=settled(around.upper or 0.0),
        )


def _coverage(spec: AnalysisSpec, truth: Truth, done: Sequence[Simulated]) -> Iterator[Coverage]:
    truths = {f"pass-rate/stack/{stack}": rate for stack, rate in truth.pass_rate.items()}
    if spec.others:
        by_rule = {
            Rule.PASS: truth.difference(spec),
            Rule.COST: truth.cost_ratio(spec),
            Rule.TIME: truth.time_ratio(spec),
        }
        truths |= {each.id: by_rule[each.rule] for each in spec.hypotheses if each.rule in by_rule}
    for name, true in truths.items():
        found = [each.intervals[name] for each in done if name in each.intervals]
        held = sum(_holds(each, true) for each in found)
        around = Wilson(held, len(found), 0.95)
        widths = [x.upper - x.lower for x in found if x.upper is not None and x.lower is not None]
        yield Coverage(
            interval=name,
            truth=settled(true) if np.isfinite(true) else None,
            nominal=spec.confidence,
            covered=settled(around.rate or 0.0),
            lower=settled(around.lower or 0.0),
            upper=settled(around.upper or 0.0),
            median_width=settled(float(np.median(widths))) if widths else None,
        )


def _holds(each: Figure, true: float) -> bool:
    if each.lower is None:
        return False
    return each.lower <= true + 1e-12 and (
        each.unbounded or (each.upper is not None and true <= each.upper + 1e-12)
    )


def _spending(spec: AnalysisSpec, spends: Sequence[float]) -> Spending:
    worst = spec.planned_runs * spec.caps.cost_usd
    budget = spec.budget_usd
    over = None if budget is None else sum(each > budget for each in spends) / len(spends)
    return Spending(
        expected=settled(float(np.mean(spends))),
        within_95=settled(float(np.quantile(spends, 0.95))),
        worst=settled(worst),
        worst_reruns=settled(2 * worst),
        budget=budget,
        over_budget=None if over is None else settled(over),
    )
