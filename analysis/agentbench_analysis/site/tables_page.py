"""The publication's tables, as they also stand in its CSV and Markdown files."""

from agentbench_analysis.results.model import Results
from agentbench_analysis.site.links import Links
from agentbench_analysis.site.render import Renderer
from agentbench_analysis.tables.model import Table
from agentbench_analysis.tables.report import all_tables

ELSEWHERE = {
    "runs": ("runs.html", "the run table"),
    "failed-runs": ("lost.html#failed", "where we lost"),
    "numbers": ("numbers.html", "the page of all numbers"),
}
"""Tables that have a page of their own."""

MOST_ROWS = 2_000
"""Rows of one table on the page; its CSV file has them all."""


def tables_page(renderer: Renderer, results: Results, table_root: str | None) -> bytes:
    """Return the page of all tables; `table_root` is where their files lie, None for nowhere."""
    tables = all_tables(results)
    links = Links(results.attempts)
    main = {each.run: links.page(each) for each in results.attempts if each.standing.counts}
    return renderer.page(
        "tables.html.j2",
        root="",
        here="tables.html",
        tables=[table for table in tables if table.id not in ELSEWHERE],
        elsewhere=[(table, *ELSEWHERE[table.id]) for table in tables if table.id in ELSEWHERE],
        most=MOST_ROWS,
        table_root=table_root,
        run_page=main.get,
    )


def rows_by_name(table: Table) -> list[dict[str, object]]:
    """A table's rows with its columns' names."""
    names = [column.name for column in table.columns]
    return [dict(zip(names, row, strict=True)) for row in table.rows]
