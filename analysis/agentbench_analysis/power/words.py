"""What a power simulation means, in sentences, and its tables."""

from collections.abc import Sequence

from agentbench_analysis.power.assumptions import Assumptions
from agentbench_analysis.power.model import Chance, EqualStacks, Needed, Power, Spending
from agentbench_analysis.spec import AnalysisSpec, Rule
from agentbench_analysis.tables.model import Kind, Table, columns

T = Kind.TEXT


def statements(
    spec: AnalysisSpec,
    assumed: Assumptions,
    chances: Sequence[Chance],
    spending: Spending,
    equal: Sequence[EqualStacks],
    needed: Sequence[Needed],
) -> tuple[str, ...]:
    """What people must see before they spend the budget."""
    lines = []
    by_id = {each.id: each for each in chances}
    headline = by_id["headline"]
    lines.append(
        f"Under these assumptions the headline holds in {headline.holds * 100:.0f} % of "
        f"{assumed.campaigns} simulated campaigns."
    )
    for each in spec.hypotheses:
        if each.rule is Rule.PASS and equal:
            low, high = min(e.holds for e in equal), max(e.holds for e in equal)
            rates = [e.pass_rate for e in equal]
            lines.append(
                f"{each.id} with equal stacks at {min(rates) * 100:.0f} to "
                f"{max(rates) * 100:.0f} % holds in only {low * 100:.0f} to {high * 100:.0f} % of "
                f"campaigns of {spec.planned_runs} runs: a stack that is truly no worse will "
                "usually not be shown to be."
            )
    for need in needed:
        if need.repeats is None:
            lines.append(
                f"{need.hypothesis} does not reach {need.power * 100:.0f} % power with up to "
                f"{need.tried_up_to} repeats per cell."
            )
        else:
            lines.append(
                f"{need.hypothesis} reaches {need.power * 100:.0f} % power with {need.repeats} "
                f"repeats per cell, {need.runs} runs."
            )
    lines.append(
        f"Expected spend ${spending.expected:.0f}; with every run at its cap "
        f"${spending.worst:.0f}"
        + (f"; the budget is ${spending.budget:.0f}." if spending.budget is not None else ".")
    )
    return tuple(lines)


def power_tables(power: Power) -> tuple[Table, ...]:
    """The simulation as tables: chances, coverage, spend, repeats."""
    spending = power.spending
    return (
        Table(
            id="power-chances",
            title="Chance of each verdict",
            columns=columns(
                id=T,
                statement=T,
                holds=Kind.SHARE,
                not_shown=Kind.SHARE,
                not_computable=Kind.SHARE,
                lower=Kind.SHARE,
                upper=Kind.SHARE,
            ),
            rows=tuple(
                (
                    each.id,
                    each.statement,
                    each.holds,
                    each.not_shown,
                    each.not_computable,
                    each.lower,
                    each.upper,
                )
                for each in power.chances
            ),
            notes=(
                *power.statements,
                f"{power.assumptions.campaigns} campaigns, {power.assumptions.resamples} "
                "resamples each; bounds are for the limited number of campaigns",
            ),
        ),
        Table(
            id="power-coverage",
            title="Coverage of each interval",
            columns=columns(
                interval=T,
                truth=Kind.NUMBER,
                nominal=Kind.SHARE,
                covered=Kind.SHARE,
                lower=Kind.SHARE,
                upper=Kind.SHARE,
                median_width=Kind.NUMBER,
            ),
            rows=tuple(
                (
                    each.interval,
                    each.truth,
                    each.nominal,
                    each.covered,
                    each.lower,
                    each.upper,
                    each.median_width,
                )
                for each in power.coverage
            ),
        ),
        Table(
            id="power-spend",
            title="Spend",
            columns=columns(
                expected=Kind.USD,
                within_95_percent=Kind.USD,
                worst=Kind.USD,
                worst_with_reruns=Kind.USD,
                budget=Kind.USD,
                over_budget=Kind.SHARE,
            ),
            rows=(
                (
                    spending.expected,
                    spending.within_95,
                    spending.worst,
                    spending.worst_reruns,
                    spending.budget,
                    spending.over_budget,
                ),
            ),
        ),
        Table(
            id="power-equal-stacks",
            title="The pass-rate hypothesis if all stacks are equal",
            columns=columns(pass_rate=Kind.SHARE, holds=Kind.SHARE),
            rows=tuple((each.pass_rate, each.holds) for each in power.equal_stacks),
        ),
        Table(
            id="power-repeats",
            title="Chance to hold by repeats per cell",
            columns=columns(hypothesis=T, repeats=Kind.COUNT, runs=Kind.COUNT, holds=Kind.SHARE),
            rows=tuple(
                (each.hypothesis, each.repeats, each.runs, each.holds) for each in power.curve
            ),
        ),
    )
