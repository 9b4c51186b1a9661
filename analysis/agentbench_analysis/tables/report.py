"""Which tables there are, and which the terminal shows."""

from collections.abc import Callable

from agentbench_analysis.results.model import Results
from agentbench_analysis.tables import counts, factors, runs, verdicts
from agentbench_analysis.tables.model import Table

_ALL: tuple[Callable[[Results], Table], ...] = (
    verdicts.claims,
    verdicts.hypotheses,
    verdicts.beside,
    factors.pass_rates,
    factors.medians,
    factors.lost,
    counts.causes,
    runs.failed,
    runs.reruns,
    runs.security,
    factors.cells,
    counts.conduct,
    counts.tokens,
    factors.means,
    counts.spend,
    counts.kept_out,
    verdicts.amendments,
    runs.runs,
    verdicts.numbers,
)
_SHORT = (
    verdicts.claims,
    verdicts.hypotheses,
    verdicts.beside,
    factors.pass_rates,
    factors.medians,
    factors.lost,
    counts.causes,
)
_WHERE_ANY = (runs.reruns, runs.security, counts.kept_out, verdicts.amendments)
_WIDE = frozenset({"id", "own id", "other id", "name"})


def all_tables(results: Results) -> tuple[Table, ...]:
    """Every table of a publication."""
    return tuple(make(results) for make in _ALL)


def report_tables(results: Results) -> tuple[Table, ...]:
    """The tables for a terminal: decisions, rates and medians by single factors, what was lost.

    The numbers are the same as everywhere; ids and long names are left out for width.
    """
    chosen = [make(results) for make in _SHORT]
    chosen += [table for make in _WHERE_ANY if (table := make(results)).rows]
    chosen.append(counts.spend(results))
    return tuple(_narrow(table) for table in chosen)


def _narrow(table: Table) -> Table:
    keep = [place for place, column in enumerate(table.columns) if column.name not in _WIDE]
    single = table.id in ("pass-rates", "medians")
    by = next((i for i, column in enumerate(table.columns) if column.name == "by"), None)
    rows = [
        row
        for row in table.rows
        if not single or by is None or row[by] in ("stack", "task", "agent")
    ]
    return Table(
        id=table.id,
        title=table.title,
        columns=tuple(table.columns[place] for place in keep),
        rows=tuple(tuple(row[place] for place in keep) for row in rows),
        notes=table.notes,
    )
