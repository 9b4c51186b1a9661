"""The verdict page: claim conditions, hypotheses with their intervals, and what was measured."""

from collections.abc import Iterable
from dataclasses import dataclass

from agentbench_analysis.results.model import CellLine, Decision, Figure, Results
from agentbench_analysis.site import charts, figures
from agentbench_analysis.site.names import Names
from agentbench_analysis.site.render import Renderer

HEADLINE = {
    Decision.HOLDS: "Every condition holds: this may be said.",
    Decision.NOT_SHOWN: "At least one condition is not shown: this may not be said.",
    Decision.NOT_COMPUTABLE: "At least one condition cannot be computed: this may not be said.",
}


@dataclass(frozen=True, slots=True)
class Download:
    """A file that lies beside the site."""

    href: str
    label: str


@dataclass(frozen=True, slots=True)
class Arm:
    """A stack, with its plugins where there are any, as one line of the pass-rate picture."""

    name: str
    colour: int


def verdict_page(
    renderer: Renderer, results: Results, names: Names, downloads: tuple[Download, ...]
) -> bytes:
    """Return the verdict page."""
    cells = results.cells
    return renderer.page(
        "verdict.html.j2",
        root="",
        here="index.html",
        results=results,
        headline_words=HEADLINE[results.verdict.headline],
        confidence=f"{100 * results.spec.confidence:g} %",
        forests=charts.forests(results),
        amended=tuple(_amended(results)),
        rates=_rates(results, names),
        spreads=(
            _spread(results, names, "cost_usd", "cost", "Cost", "money"),
            _spread(results, names, "agent_seconds", "time", "Time", "clock"),
        ),
        spend=charts.spending(results),
        incomplete=[cell for cell in cells if cell.incomplete],
        degenerate=sum(cell.degenerate for cell in cells),
        downloads=downloads,
    )


@dataclass(frozen=True, slots=True)
class Pair:
    """One hypothesis or claim under both rules."""

    id: str
    frozen: str
    amended: str
    condition: str


def _amended(results: Results) -> Iterable[Pair]:
    verdict = results.verdict
    hypotheses = {each.hypothesis: each for each in verdict.findings if each.rules == "frozen"}
    for each in verdict.findings:
        if each.rules == "amended":
            old = hypotheses[each.hypothesis]
            yield Pair(each.hypothesis, old.decision.value, each.decision.value, each.condition)
    claims = {each.claim: each for each in verdict.claims if each.rules == "frozen"}
    for claim in verdict.claims:
        if claim.rules == "amended":
            before = claims[claim.claim].decision.value
            yield Pair(claim.claim, before, claim.decision.value, ", ".join(claim.hypotheses))


@dataclass(frozen=True, slots=True)
class RateRow:
    """One cell's pass rate, ready to be drawn and to be printed."""

    id: str
    task: str
    arm: str
    agent: str
    colour: int
    passed: int
    total: int
    value: float
    lower: float | None
    upper: float | None


@dataclass(frozen=True, slots=True)
class Rates:
    """All cells' pass rates; `data` is what is drawn."""

    rows: tuple[RateRow, ...]
    arms: tuple[Arm, ...]
    data: charts.Json


def _rates(results: Results, names: Names) -> Rates:
    found = {figure.id: figure for figure in results.figures}
    rows = tuple(_rate_rows(results.cells, found, names))
    arms = {row.arm: Arm(row.arm, row.colour) for row in rows}
    return Rates(
        rows,
        tuple(arms.values()),
        {
            "agents": sorted({row.agent for row in rows}),
            "rows": [
                {
                    "task": row.task,
                    "arm": row.arm,
                    "agent": row.agent,
                    "colour": row.colour,
                    "passed": row.passed,
                    "total": row.total,
                    "value": row.value,
                    "lower": row.lower,
                    "upper": row.upper,
                }
                for row in rows
            ],
        },
    )


def _rate_rows(
    cells: Iterable[CellLine], found: dict[str, Figure], names: Names
) -> Iterable[RateRow]:
    for cell in cells:
        ident = figures.cell_rate(cell)
        figure = found.get(ident)
        if figure is None or figure.value is None:
            continue
        arm = " + ".join((names.stack(cell.stack), *cell.plugins))
        yield RateRow(
            ident,
            cell.task,
            arm,
            names.agent(cell.agent),
            names.colour(cell.stack),
            cell.passed,
            cell.scored,
            figure.value,
            figure.lower,
            figure.upper,
        )


@dataclass(frozen=True, slots=True)
class Spread:
    """One metric over passing runs, by stack."""

    key: str
    title: str
    data: charts.Json
    figures: tuple[Figure, ...]
    summary: str


def _spread(results: Results, names: Names, metric: str, key: str, title: str, form: str) -> Spread:
    data = charts.spread(results, names, metric)
    found = figures.medians(results, key)
    medians = [
        {"stack": stack, "value": figure.value}
        for stack, figure in found.items()
        if figure.value is not None
    ]
    words = [
        f"{names.stack(stack)} {figures.value_text(figure)}" for stack, figure in found.items()
    ]
    summary = f"Medians: {', '.join(words)}." if words else ""
    data |= {"form": form, "medians": medians}
    return Spread(key, title, data, tuple(found.values()), summary)
