"""Every published number in one place, each under the id that a claim links to."""

from dataclasses import dataclass

from agentbench_analysis.results.model import Figure, Results
from agentbench_analysis.site.names import Names
from agentbench_analysis.site.render import Renderer

TITLES = {
    "pass-rate": "Pass rate",
    "cost": "Median cost of passing runs",
    "time": "Median time of passing runs",
    "security": "Critical security failures",
    "security-rate": "Share of runs with a critical security failure",
    "spend": "Spend",
    "mean": "Mean",
}
GROUPINGS = {
    "stack": "by stack",
    "task": "by task",
    "agent": "by agent",
    "task-stack": "by task and stack",
    "agent-stack": "by agent and stack",
    "cell": "by cell",
    "total": "of the whole campaign",
}
TESTED = "The numbers that decide"


@dataclass(frozen=True, slots=True)
class Line:
    """One number with the words for what it is about."""

    words: str
    figure: Figure


@dataclass(frozen=True, slots=True)
class Section:
    """A table of numbers of one kind."""

    id: str
    title: str
    lines: tuple[Line, ...]


def numbers_page(renderer: Renderer, results: Results, names: Names) -> bytes:
    """Return the page of all numbers."""
    return renderer.page(
        "numbers.html.j2",
        root="",
        here="numbers.html",
        sections=sections(results, names),
        confidence=f"{100 * results.spec.confidence:g} %",
        total=len(results.figures),
    )


def sections(results: Results, names: Names) -> tuple[Section, ...]:
    """Every figure of the results, sorted into tables by its id."""
    found: dict[str, list[Line]] = {}
    for figure in results.figures:
        title, words = _place(figure, names)
        found.setdefault(title, []).append(Line(words, figure))
    return tuple(
        Section(f"table-{place}", title, tuple(lines))
        for place, (title, lines) in enumerate(found.items(), 1)
    )


def _place(figure: Figure, names: Names) -> tuple[str, str]:
    """The table that a number belongs to, and what its row says."""
    kind, *rest = figure.id.split("/")
    title = TITLES.get(kind)
    if title is None or not rest:
        amended = ", under the amended rule" if kind == "amended" else ""
        hypothesis = rest[0] if kind == "amended" and rest else kind
        return f"{TESTED}{amended}", f"{hypothesis}: {figure.label}"
    if kind == "mean":
        metric, *rest = rest
        title = f"{title} {metric} of scored runs"
    grouping, *key = rest
    words = ", ".join(names.named(part) for part in key)
    return f"{title} {GROUPINGS.get(grouping, grouping)}", words or "all attempts"
