"""How many repeats per cell a hypothesis needs, and what equal stacks can show."""

import dataclasses

from numpy.random import PCG64, Generator, SeedSequence

from agentbench_analysis.codec import settled
from agentbench_analysis.power.assumptions import Assumptions, StackAssumption
from agentbench_analysis.power.model import CurvePoint, EqualStacks, Needed
from agentbench_analysis.power.world import World
from agentbench_analysis.results.model import Decision
from agentbench_analysis.spec import AnalysisSpec, Hypothesis, Rule
from agentbench_analysis.verdict.ground import Ground
from agentbench_analysis.verdict.pass_rate import bounds, holds, strata_of
from agentbench_analysis.verdict.ratio import decide_ratio, medians_of

POWER = 0.80
"""The power that is asked for."""

TRIED = (5, 10, 15, 20, 30, 40, 60, 80, 100)
"""Repeats per cell that are tried; a campaign takes at most a hundred."""

HOPELESS = 0.10
"""A chance below this at four numbers of repeats in a row ends the search."""

EQUAL_RATES = (0.70, 0.75, 0.80)
EQUAL_CAMPAIGNS = 1000
CURVE_CAMPAIGNS = 200
CURVE_RESAMPLES = 400
"""At most so many campaigns for each question, and resamples for each point of the curve."""


def equal_stacks(spec: AnalysisSpec, campaigns: int, seed: int) -> tuple[EqualStacks, ...]:
    """How often the pass-rate hypothesis holds for this design if all stacks are equal."""
    hypothesis = next((each for each in spec.hypotheses if each.rule is Rule.PASS), None)
    if hypothesis is None or not spec.others:
        return ()
    found = []
    for place, rate in enumerate(EQUAL_RATES):
        same = StackAssumption(pass_=rate, cost_median=1.0, time_median=600.0)
        world = World.of(spec, Assumptions(stacks={stack.id: same for stack in spec.stacks}))
        source = Generator(PCG64(SeedSequence([seed, 1, place])))
        share = _held(spec, hypothesis, world, source, min(EQUAL_CAMPAIGNS, campaigns))
        found.append(EqualStacks(pass_rate=rate, holds=share))
    return tuple(found)


def curve_and_needs(
    spec: AnalysisSpec, assumed: Assumptions, seed: int
) -> tuple[tuple[CurvePoint, ...], tuple[Needed, ...]]:
    """The chance to hold at more and more repeats, for each hypothesis until it reaches power."""
    points: list[CurvePoint] = []
    needs: list[Needed] = []
    campaigns = min(CURVE_CAMPAIGNS, assumed.campaigns)
    tried = sorted({spec.repeats, *(n for n in TRIED if n > spec.repeats)})
    for number, hypothesis in enumerate(spec.hypotheses):
        reached = None
        last = tried[0]
        for repeats in tried:
            design = dataclasses.replace(spec, repeats=repeats, resamples=CURVE_RESAMPLES)
            world = World.of(design, assumed)
            source = Generator(PCG64(SeedSequence([seed, 2, number, repeats])))
            share = _held(design, hypothesis, world, source, campaigns)
            last = repeats
            points.append(
                CurvePoint(
                    hypothesis=hypothesis.id,
                    repeats=repeats,
                    runs=design.planned_runs,
                    holds=share,
                )
            )
            if share >= POWER:
                reached = repeats
                break
            if hypothesis.rule is Rule.SECURITY or _hopeless(points, hypothesis):
                break
        needs.append(
            Needed(
                hypothesis=hypothesis.id,
                power=POWER,
                repeats=reached,
                runs=None if reached is None else spec.planned_cells * reached,
                tried_up_to=last,
            )
        )
    return tuple(points), tuple(needs)


def _hopeless(points: list[CurvePoint], hypothesis: Hypothesis) -> bool:
    """Whether four points in a row stay near zero: the truth does not meet the threshold."""
    mine = [each.holds for each in points if each.hypothesis == hypothesis.id]
    return len(mine) >= 4 and max(mine[-4:]) < HOPELESS


def _held(
    spec: AnalysisSpec, hypothesis: Hypothesis, world: World, source: Generator, campaigns: int
) -> float:
    held = 0
    for _ in range(campaigns):
        sample, _, failures = world.draw(source)
        if hypothesis.rule is Rule.SECURITY:
            held += not failures
            continue
        ground = Ground(spec, sample, ())
        if ground.no_ground():
            continue
        if hypothesis.rule is Rule.PASS:
            held += holds(spec, bounds(spec, strata_of(sample))[0])
        else:
            medians = medians_of(ground)[hypothesis.rule]
            ruling = decide_ratio(ground, hypothesis, medians)
            held += ruling.finding.decision is Decision.HOLDS
    return settled(held / campaigns)
