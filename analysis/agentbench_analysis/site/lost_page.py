"""Where we lost: every task on which the reference stack did worse, and every failed run."""

from agentbench_analysis.results.model import Attempt, Results
from agentbench_analysis.rows.read import number_of
from agentbench_analysis.rows.words import Outcome
from agentbench_analysis.site.links import Links
from agentbench_analysis.site.render import Renderer
from agentbench_analysis.site.tables_page import rows_by_name
from agentbench_analysis.tables.factors import lost

MOST_ROWS = 500
"""Failed runs listed on the page; beyond them the run table is the place to look."""

MEASURES = {
    "pass-rate": "Pass rate",
    "cost": "Median cost of passing runs",
    "time": "Median time of passing runs",
}


def lost_page(renderer: Renderer, results: Results) -> bytes:
    """Return the page."""
    failed = [each for each in results.attempts if each.outcome is Outcome.FAIL]
    failed.sort(key=lambda each: (each.stack != results.spec.reference, each.order, each.attempt))
    return renderer.page(
        "lost.html.j2",
        root="",
        here="lost.html",
        reference=results.spec.reference_name,
        losses=rows_by_name(lost(results)),
        numbers={figure.id: figure for figure in results.figures},
        measures=MEASURES,
        failed=failed[:MOST_ROWS],
        total=len(failed),
        cost=sum(_cost(each) or 0 for each in failed),
        silent=sum(_cost(each) is None for each in failed),
        cost_of=_cost,
        links=Links(results.attempts),
    )


def _cost(attempt: Attempt) -> float | None:
    return number_of(attempt.metrics.get("cost_usd"))
