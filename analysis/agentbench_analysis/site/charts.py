"""The numbers behind each picture, ready to be drawn; the same numbers stand in a table."""

from dataclasses import dataclass

from agentbench_analysis.results.model import Attempt, Figure, Finding, Results
from agentbench_analysis.rows.read import number_of
from agentbench_analysis.rows.words import Outcome
from agentbench_analysis.site.figures import interval_text, value_text
from agentbench_analysis.site.links import Links
from agentbench_analysis.site.names import Names
from agentbench_analysis.spec import Rule

Json = dict[str, object]


@dataclass(frozen=True, slots=True)
class Forest:
    """One hypothesis as a picture: its intervals and the threshold they are held against."""

    finding: Finding
    figures: tuple[Figure, ...]
    data: Json
    drawable: bool

    @property
    def summary(self) -> str:
        """The picture in words."""
        parts = [
            f"{figure.label} {value_text(figure)}"
            + (f", interval {interval_text(figure)}" if interval_text(figure) else "")
            for figure in self.figures
        ]
        return f"{'; '.join(parts)}. {self.finding.condition}: {self.finding.decision.value}."


def forests(results: Results) -> tuple[Forest, ...]:
    """One forest plot per hypothesis under the frozen rules, in the verdict's order."""
    findings = results.verdict.findings
    return tuple(_forest(results, each) for each in findings if each.rules == "frozen")


_FORMS = {Rule.PASS: "points", Rule.COST: "ratio", Rule.TIME: "ratio", Rule.SECURITY: "share"}
_UNITS = {"points": "difference of shares", "ratio": "ratio", "share": "share"}


def _forest(results: Results, finding: Finding) -> Forest:
    figures = tuple(results.figure(ident) for ident in finding.figures)
    form = _FORMS[finding.rule]
    drawn = [figure for figure in figures if figure.unit == _UNITS[form]]
    data: Json = {
        "threshold": finding.threshold,
        "side": "above" if finding.rule is Rule.PASS else "below",
        "form": form,
        "rows": [
            {
                "label": figure.label,
                "value": figure.value,
                "lower": figure.lower,
                "upper": figure.upper,
                "unbounded": figure.unbounded,
                "decides": place == 0,
            }
            for place, figure in enumerate(drawn)
        ],
    }
    return Forest(finding, figures, data, any(figure.value is not None for figure in drawn))


MANY = 900
"""More runs than these are drawn as a histogram, where single runs cannot be picked."""


def spread(results: Results, names: Names, metric: str) -> Json:
    """Every passing run's value of a metric, by stack; with its run where runs can be picked."""
    links = Links(results.attempts)
    found = [
        (each, round(value, 4))
        for each in results.scored
        if each.outcome is Outcome.PASS
        and (value := number_of(each.metrics.get(metric))) is not None
    ]
    many = len(found) > MANY
    return {
        "stacks": _stacks(results, names),
        "many": many,
        "rows": [
            [each.stack, value] if many else [each.stack, value, each.run, links.page(each)]
            for each, value in found
        ],
    }


@dataclass(frozen=True, slots=True)
class Spending:
    """Spend in US dollars, summed over attempts in the order in which they ended."""

    points: tuple[tuple[int, float], ...]
    total: float
    unknown: int  # attempts that reported no cost
    budget: float | None

    @property
    def data(self) -> Json:
        """What is drawn; at most about a thousand points."""
        step = max(1, len(self.points) // 1_000)
        kept = [*self.points[::step], *self.points[-1:]]
        return {"points": [list(point) for point in kept], "budget": self.budget}

    @property
    def table(self) -> tuple[tuple[int, float], ...]:
        """The spend at each tenth of the campaign."""
        step = max(1, len(self.points) // 10)
        last = len(self.points) - 1
        return tuple(self.points[at] for at in sorted({*range(step - 1, last, step), last} - {-1}))


def spending(results: Results) -> Spending:
    """The spend of a campaign, reruns included."""
    total, unknown, points = 0.0, 0, []
    for place, each in enumerate(_by_end(results.attempts), 1):
        cost = number_of(each.metrics.get("cost_usd"))
        unknown += cost is None
        total += cost or 0.0
        points.append((place, round(total, 4)))
    return Spending(tuple(points), round(total, 4), unknown, results.spec.budget_usd)


def _by_end(attempts: tuple[Attempt, ...]) -> list[Attempt]:
    return sorted(attempts, key=lambda each: (each.ended_at, each.order, each.attempt))


def _stacks(results: Results, names: Names) -> list[Json]:
    return [
        {"id": stack.id, "name": stack.name, "colour": names.colour(stack.id)}
        for stack in results.spec.stacks
    ]
