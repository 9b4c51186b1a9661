"""Are the reference stack's passing runs cheaper, or faster, than the best other's?"""

from dataclasses import dataclass

import numpy as np

from agentbench_analysis.bootstrap.medians import Stratified, Values, median, resampled_medians
from agentbench_analysis.bootstrap.quantile import interval
from agentbench_analysis.campaign import percent
from agentbench_analysis.codec import settled
from agentbench_analysis.results.figures import figure
from agentbench_analysis.results.model import Decision, Figure, Finding
from agentbench_analysis.spec import BestOther, Hypothesis, Rule
from agentbench_analysis.verdict.ground import Ground, Ruling


@dataclass(frozen=True, slots=True)
class Side:
    """One stack's passing runs: how many, how many reported a value, and their median."""

    stack: str
    passed: int
    reported: int
    median: float | None
    resampled: Values


@dataclass(frozen=True, slots=True)
class Medians:
    """Every stack's medians of one quantity (`cost` in US dollars, `time` in seconds)."""

    rule: Rule
    sides: dict[str, Side]

    @property
    def unit(self) -> str:
        """The unit of the medians."""
        return "USD" if self.rule is Rule.COST else "seconds"


def medians_of(ground: Ground) -> dict[Rule, Medians]:
    """Observed and resampled medians of cost and of time, from the same resamples."""
    stacks = [stack.id for stack in ground.spec.stacks]
    strata = []
    for stack in stacks:
        cells = ground.sample.of_stack(stack)
        strata.append(
            Stratified(
                sizes=tuple(cell.line.scored for cell in cells),
                metrics=(
                    np.concatenate([cell.cost for cell in cells]),
                    np.concatenate([cell.seconds for cell in cells]),
                ),
            )
        )
    drawn = resampled_medians(strata, ground.spec.resamples, ground.spec.seed)
    return {
        rule: Medians(
            rule,
            {
                stack: Side(
                    stack=stack,
                    passed=sum(cell.line.passed for cell in ground.sample.of_stack(stack)),
                    reported=int(np.count_nonzero(~np.isnan(strata[place].metrics[column]))),
                    median=median(strata[place].metrics[column]),
                    resampled=drawn[place][column],
                )
                for place, stack in enumerate(stacks)
            },
        )
        for column, rule in enumerate((Rule.COST, Rule.TIME))
    }


def decide_ratio(ground: Ground, hypothesis: Hypothesis, medians: Medians) -> Ruling:
    """Holds if the upper bound of the ratio of medians is at or below the margin.

    The ratio is the reference stack's median over passing runs divided by the lowest other
    one. A resample without a passing run counts as infinite for the reference stack; another
    stack is left out of that resample, and the resample itself where no other stack is left.
    """
    spec = ground.spec
    margin = spec.margins.cost if medians.rule is Rule.COST else spec.margins.time
    own = medians.sides[spec.reference]
    reasons = list(ground.no_ground())
    rivals = [medians.sides[stack.id] for stack in spec.others]
    if rivals and all(side.median is None for side in rivals):
        reasons.append("no other stack has a passing run that reported a value")
    decision = Decision.NOT_COMPUTABLE
    figures: tuple[Figure, ...] = ()
    beside: list[str] = []
    if any(side.median is not None for side in rivals):
        figures, beside = _figures(ground, hypothesis, medians)
    if not reasons:
        decision, reasons = _decide(figures[0], own, margin, ground.name(spec.reference))
    missing = [
        f"{ground.name(side.stack)}: {side.reported} of {side.passed} passing runs reported"
        for side in medians.sides.values()
        if side.reported < side.passed
    ]
    return Ruling(
        Finding(
            hypothesis=hypothesis.id,
            rule=hypothesis.rule,
            statement=hypothesis.statement,
            rules=ground.rules,
            decision=decision,
            condition=f"upper {percent(spec.confidence)} % bound of the ratio of medians is at "
            f"most {margin:.2f}",
            threshold=settled(margin),
            figures=tuple(each.id for each in figures),
            reasons=tuple(reasons),
            beside=(*missing, *beside, *ground.beside()),
            incomplete=bool(missing) or ground.unsettled,
        ),
        figures,
    )


def _decide(ratio: Figure, own: Side, margin: float, name: str) -> tuple[Decision, list[str]]:
    if own.median is None:
        what = "passing run" if not own.passed else "passing run that reported a value"
        return Decision.NOT_SHOWN, [f"{name} has no {what}: its median counts as infinite"]
    if own.median == 0 and ratio.value is None:
        return Decision.NOT_COMPUTABLE, ["both medians are zero: there is no ratio"]
    if ratio.unbounded:
        missed = bool(np.isnan(own.resampled).any())
        why = "without a passing run" if missed else "in which the best other median is zero"
        return Decision.NOT_SHOWN, [f"the upper bound is infinite: {name} has resamples {why}"]
    if ratio.upper is None:
        return Decision.NOT_COMPUTABLE, ["no resample has a ratio of medians"]
    if ratio.upper <= settled(margin):
        return Decision.HOLDS, [f"the upper bound {ratio.upper:.3f} is at or below {margin:.2f}"]
    return Decision.NOT_SHOWN, [f"the upper bound {ratio.upper:.3f} is above {margin:.2f}"]


def _figures(
    ground: Ground, hypothesis: Hypothesis, medians: Medians
) -> tuple[tuple[Figure, ...], list[str]]:
    spec = ground.spec
    own = medians.sides[spec.reference]
    rivals = [medians.sides[stack.id] for stack in spec.others]
    present = [side for side in rivals if side.median is not None]
    lowest = min(side.median for side in present if side.median is not None)
    best = [side for side in present if side.median == lowest]
    skipped = [np.where(np.isnan(side.resampled), np.inf, side.resampled) for side in rivals]
    ways = {
        BestOther.PER_RESAMPLE: ("best other picked in every resample", np.min(skipped, axis=0)),
        BestOther.FIXED: (
            f"best other fixed as {ground.name(best[0].stack)}",
            np.where(np.isnan(best[0].resampled), np.inf, best[0].resampled),
        ),
    }
    name = ground.name(spec.reference)
    primary = ways.pop(spec.best_other)
    ((_, second),) = ways.items()
    figures = [
        _ratio(ground, hypothesis, "ratio", f"{name} / best other", own, lowest, *primary),
        _ratio(
            ground,
            hypothesis,
            "other-choice",
            f"{name} / best other, other choice",
            own,
            lowest,
            *second,
        ),
    ]
    for side, values in zip(rivals, skipped, strict=True):
        if side.median is not None:
            label = f"{name} / {ground.name(side.stack)}"
            ident = f"ratio/{side.stack}"
            figures.append(_ratio(ground, hypothesis, ident, label, own, side.median, "", values))
    return tuple(figures), _beside(ground, medians, best, lowest)


def _ratio(
    ground: Ground,
    hypothesis: Hypothesis,
    ident: str,
    label: str,
    own: Side,
    other: float,
    way: str,
    others: Values,
) -> Figure:
    spec = ground.spec
    kept = np.isfinite(others)
    top = np.where(np.isnan(own.resampled), np.inf, own.resampled)[kept]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = top / others[kept]
    ratios = ratios[~np.isnan(ratios)]
    value = None if own.median is None else own.median / other if other else None
    how = f"{spec.resamples} bootstrap resamples within cells, percentile"
    missed, infinite = int(np.isinf(top).sum()), int(np.isinf(ratios).sum())
    unmatched = spec.resamples - int(kept.sum())
    counts = {
        "infinite: no passing run on the reference stack": missed,
        "infinite: the other median is zero": infinite - missed,
        "left out: no value to divide by": unmatched,
        "left out: both medians are zero": spec.resamples - unmatched - len(ratios),
    }
    notes = [f"{number} resamples are {what}" for what, number in counts.items() if number]
    return figure(
        ground.ident(hypothesis, ident),
        label,
        "ratio",
        value,
        bounds=interval(ratios, spec.confidence, spec.quantile) if len(ratios) else (None, None),
        of=(own.reported, own.passed),
        method=f"{how}; {way}" if way else how,
        reason=None if value is not None else "a median is unavailable or zero",
        notes=tuple(notes),
    )


def _beside(ground: Ground, medians: Medians, best: list[Side], lowest: float) -> list[str]:
    lines = [
        f"{ground.name(side.stack)} has no passing run with a value and is left out"
        for stack in ground.spec.others
        if (side := medians.sides[stack.id]).median is None
    ]
    if len(best) > 1:
        tied = " and ".join(ground.name(side.stack) for side in best)
        lines.append(f"tie for the best other stack: {tied}; a fixed choice takes the first")
    if medians.sides[ground.spec.reference].median == lowest:
        lines.append("tie: the reference stack and the best other have the same median")
    return lines
