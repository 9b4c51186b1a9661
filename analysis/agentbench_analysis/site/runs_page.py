"""The run table: every attempt, filtered and sorted in the page itself."""

from dataclasses import dataclass

from agentbench_analysis.results.model import Attempt, Results
from agentbench_analysis.rows.read import number_of
from agentbench_analysis.site.links import Links
from agentbench_analysis.site.render import Renderer
from agentbench_analysis.site.text import line

FILTERS = ("task", "stack", "agent", "plugins", "outcome", "cause", "standing")
FIRST_PAGE = 100
"""Rows that stand in the page itself; all others wait as data until they are asked for."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the table; `kind` says how its values compare and read."""

    key: str
    label: str
    kind: str  # text, number, money, duration, outcome, link


PLUGINS = Column("plugins", "Plugins", "text")
COLUMNS = (
    Column("run", "Run", "link"),
    Column("task", "Task", "text"),
    Column("stack", "Stack", "text"),
    Column("agent", "Agent", "text"),
    Column("outcome", "Outcome", "outcome"),
    Column("cause", "Cause", "text"),
    Column("cost", "Cost", "money"),
    Column("seconds", "Time", "duration"),
    Column("calls", "Tool calls", "number"),
    Column("interventions", "Replies", "number"),
    Column("flags", "Flags", "number"),
    Column("standing", "Standing", "text"),
    Column("order", "Order", "number"),
)


def runs_page(renderer: Renderer, results: Results) -> bytes:
    """Return the run table of a campaign."""
    links = Links(results.attempts)
    ordered = sorted(results.attempts, key=lambda each: (each.order, each.attempt))
    columns = _columns(results)
    lines = [_line(each, links) for each in ordered]
    filters = [
        (column, sorted({str(each[column.key]) for each in lines} - {""}))
        for column in columns
        if column.key in FILTERS
    ]
    return renderer.page(
        "runs.html.j2",
        root="",
        here="runs.html",
        columns=columns,
        filters=filters,
        lines=lines[:FIRST_PAGE],
        total=len(lines),
        data={
            "columns": [column.key for column in columns] + ["href", "attempt"],
            "rows": _packed(lines, columns),
        },
    )


def _columns(results: Results) -> tuple[Column, ...]:
    """The table's columns; plugins only where the design has any."""
    if not results.spec.plugins:
        return COLUMNS
    place = COLUMNS.index(next(column for column in COLUMNS if column.key == "agent")) + 1
    return (*COLUMNS[:place], PLUGINS, *COLUMNS[place:])


def _line(attempt: Attempt, links: Links) -> dict[str, str | float | None]:
    def metric(name: str) -> float | None:
        return number_of(attempt.metrics.get(name))

    return {
        "run": line(attempt.run),
        "task": attempt.task,
        "stack": attempt.stack,
        "agent": attempt.agent,
        "plugins": ", ".join(attempt.plugins),
        "outcome": attempt.outcome.value,
        "cause": attempt.final_cause.value if attempt.final_cause else "",
        "cost": metric("cost_usd"),
        "seconds": metric("agent_seconds"),
        "calls": metric("tool_calls"),
        "interventions": metric("interventions"),
        "flags": float(len(attempt.flags_standing)),
        "standing": attempt.standing.value,
        "order": float(attempt.order),
        "href": links.page(attempt),
        "attempt": float(attempt.attempt),
    }


def _packed(
    lines: list[dict[str, str | float | None]], columns: tuple[Column, ...]
) -> list[list[object]]:
    """Lines as columns; words that repeat are kept once, as [words, places]."""
    packed: list[list[object]] = []
    for key in [*(column.key for column in columns), "href", "attempt"]:
        values = [each[key] for each in lines]
        if key in ("run", "href") or not all(isinstance(value, str) for value in values):
            packed.append(["plain", [_short(value) for value in values]])
        else:
            words = sorted({str(value) for value in values})
            places = {word: place for place, word in enumerate(words)}
            packed.append(["words", words, [places[str(value)] for value in values]])
    return packed


def _short(value: str | float | None) -> str | float | None:
    if isinstance(value, float):
        return int(value) if value.is_integer() else round(value, 6)
    return value
