"""Is the reference stack's pass rate not lower than the best other's? By the frozen margin."""

import numpy as np

from agentbench_analysis.bootstrap.difference import (
    EXACT_LIMIT,
    Values,
    exact_difference,
    resampled_rates,
)
from agentbench_analysis.bootstrap.quantile import interval
from agentbench_analysis.bootstrap.strata import Strata
from agentbench_analysis.campaign import percent
from agentbench_analysis.codec import settled
from agentbench_analysis.results.figures import figure
from agentbench_analysis.results.model import Decision, Figure, Finding
from agentbench_analysis.sample.cells import Sample
from agentbench_analysis.spec import AnalysisSpec, BestOther, Hypothesis
from agentbench_analysis.verdict.ground import Ground, Ruling

UNIT = "difference of shares"


def decide_pass_rate(ground: Ground, hypothesis: Hypothesis) -> Ruling:
    """Holds if the lower bound of the difference is at or above the margin.

    The difference is the reference stack's pooled pass rate minus the best other's; runs are
    resampled within cells, and the frozen choice says whether the best other is picked anew in
    every resample. The other choice, each pair of stacks and the exact bootstrap stand beside.
    """
    spec = ground.spec
    margin = spec.margins.pass_rate
    blocked = ground.no_ground()
    figures: tuple[Figure, ...] = ()
    beside = list(ground.beside())
    decision, reasons = Decision.NOT_COMPUTABLE, list(blocked)
    if all(cell.line.scored for cell in ground.sample.cells) and spec.others:
        figures, ties = _figures(ground, hypothesis)
        beside = [*ties, *beside]
    if not blocked:
        lower = figures[0].lower
        assert lower is not None
        held = holds(spec, lower)
        decision = Decision.HOLDS if held else Decision.NOT_SHOWN
        reasons = [
            f"the lower bound {lower * 100:+.2f} is {'at or above' if held else 'below'} "
            f"{margin * 100:+g} percentage points"
        ]
    sign = "-" if margin < 0 else "+"
    return Ruling(
        Finding(
            hypothesis=hypothesis.id,
            rule=hypothesis.rule,
            statement=hypothesis.statement,
            rules=ground.rules,
            decision=decision,
            condition=f"lower {percent(spec.confidence)} % bound of the difference is at least "
            f"{sign}{percent(margin)} percentage points",
            threshold=settled(margin),
            figures=tuple(each.id for each in figures),
            reasons=tuple(reasons),
            beside=tuple(beside),
            incomplete=ground.unsettled,
        ),
        figures,
    )


def holds(spec: AnalysisSpec, lower: float) -> bool:
    """Whether a lower bound of the difference is at or above the frozen margin."""
    return settled(lower) >= settled(spec.margins.pass_rate)


def strata_of(sample: Sample) -> dict[str, Strata]:
    """Every stack's cells as strata, in frozen order."""
    return {
        stack.id: Strata.of(
            (cell.line.scored, cell.line.passed) for cell in sample.of_stack(stack.id)
        )
        for stack in sample.spec.stacks
    }


def bounds(spec: AnalysisSpec, strata: dict[str, Strata]) -> tuple[float, float]:
    """The interval that decides, and nothing else: what a power simulation needs."""
    drawn = resampled_rates(strata, spec.resamples, spec.seed)
    others = [stack.id for stack in spec.others]
    if spec.best_other is BestOther.FIXED:
        others = [max(others, key=lambda stack: strata[stack].passes / strata[stack].runs)]
    best = np.max([drawn[stack] for stack in others], axis=0)
    return interval(drawn[spec.reference] - best, spec.confidence, spec.quantile)


def _figures(ground: Ground, hypothesis: Hypothesis) -> tuple[tuple[Figure, ...], list[str]]:
    spec = ground.spec
    strata = strata_of(ground.sample)
    observed = {stack: each.passes / each.runs for stack, each in strata.items()}
    drawn = resampled_rates(strata, spec.resamples, spec.seed)
    others = [stack.id for stack in spec.others]
    own, name = drawn[spec.reference], spec.reference_name
    top = max(observed[stack] for stack in others)
    best = [stack for stack in others if observed[stack] == top]
    anew = own - np.max([drawn[stack] for stack in others], axis=0)
    fixed = own - drawn[best[0]]
    value = observed[spec.reference] - top
    runs = (sum(each.runs for each in strata.values()), spec.planned_runs)
    ways = {
        BestOther.PER_RESAMPLE: ("best other picked in every resample", anew),
        BestOther.FIXED: (f"best other fixed as {ground.name(best[0])}", fixed),
    }
    primary = ways.pop(spec.best_other)
    ((_, second),) = ways.items()
    how = f"{spec.resamples} bootstrap resamples within cells, percentile"

    def drawn_figure(ident: str, label: str, value: float, resamples: Values, way: str) -> Figure:
        return figure(
            ground.ident(hypothesis, ident),
            label,
            UNIT,
            value,
            bounds=interval(resamples, spec.confidence, spec.quantile),
            of=runs,
            method=f"{how}; {way}" if way else how,
        )

    figures = [
        drawn_figure("difference", f"{name} minus best other", value, primary[1], primary[0]),
        drawn_figure(
            "other-choice", f"{name} minus best other, other choice", value, second[1], second[0]
        ),
        _exact(ground, hypothesis, strata, value, best),
    ]
    for stack in others:
        label = f"{name} minus {ground.name(stack)}"
        gap = observed[spec.reference] - observed[stack]
        figures.append(drawn_figure(f"difference/{stack}", label, gap, own - drawn[stack], ""))
    ties = []
    if len(best) > 1:
        tied = " and ".join(ground.name(stack) for stack in best)
        ties.append(f"tie for the best other stack: {tied}; a fixed choice takes the first")
    if settled(value) == 0:
        ties.append(f"tie: {name} and the best other stack have the same pass rate")
    return tuple(figures), ties


def _exact(
    ground: Ground,
    hypothesis: Hypothesis,
    strata: dict[str, Strata],
    value: float,
    best: list[str],
) -> Figure:
    spec = ground.spec
    ident, label = ground.ident(hypothesis, "exact"), "the same, exact bootstrap"
    if max(each.runs for each in strata.values()) > EXACT_LIMIT:
        return figure(
            ident,
            label,
            UNIT,
            None,
            reason=f"computed for up to {EXACT_LIMIT} runs per stack",
        )
    fixed = spec.best_other is BestOther.FIXED
    rivals = best[:1] if fixed else [stack.id for stack in spec.others]
    exact = exact_difference(strata[spec.reference], [strata[stack] for stack in rivals])
    return figure(
        ident,
        label,
        UNIT,
        value,
        bounds=exact.interval(spec.confidence),
        of=(sum(each.runs for each in strata.values()), spec.planned_runs),
        method="exact bootstrap by convolution of binomials, percentile",
    )
