"""The analysis as the command line and the site use it: functions of bytes and values.

Nothing here opens a file or prints: the caller hands in documents as `(name, bytes)` pairs, and
writes what comes back. Every refusal is an `AnalysisError` (`NoRowsError` where there is nothing
to analyse), raised before anything is returned.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from agentbench_analysis import codec
from agentbench_analysis.campaign import spec_from_campaign
from agentbench_analysis.catalog.aggregate import MetricsReport, report_metrics
from agentbench_analysis.catalog.descriptors import Descriptor, Group, in_group
from agentbench_analysis.errors import AnalysisError, NoRowsError
from agentbench_analysis.parsing import Read
from agentbench_analysis.power.assumptions import assumptions_from
from agentbench_analysis.power.model import Power
from agentbench_analysis.power.picture import power_svg
from agentbench_analysis.power.words import power_tables
from agentbench_analysis.results.build import compile_results
from agentbench_analysis.results.files import (
    RESULTS_FILE,
    VERDICT_FILE,
    read_results,
    results_json,
    results_json_pieces,
    verdict_json,
)
from agentbench_analysis.results.model import Results
from agentbench_analysis.results.recheck import recheck
from agentbench_analysis.spec import AnalysisSpec
from agentbench_analysis.tables.files import table_files
from agentbench_analysis.tables.metrics import catalog_table, metrics_tables
from agentbench_analysis.tables.model import Table
from agentbench_analysis.tables.report import all_tables, report_tables

Documents = Iterable[tuple[str, bytes]]

__all__ = [
    "AnalysisError",
    "Documents",
    "NoRowsError",
    "analyse",
    "as_json",
    "catalog_table",
    "files",
    "metrics_catalog",
    "metrics_run",
    "metrics_tables",
    "open_results",
    "power",
    "power_svg",
    "power_tables",
    "report",
    "results_json_pieces",
    "spec_from_campaign",
    "tables",
]


def analyse(
    spec: AnalysisSpec,
    rows: Documents,
    adjudications: Documents = (),
    expected_sha256: Mapping[tuple[str, int], str] | None = None,
    *,
    read: Read | None = None,
) -> Results:
    """Compute a campaign's results from its rows and adjudications.

    `rows` is read once, one document at a time. `expected_sha256` is what run statuses say of
    rows, by run id and attempt; leave it out where there are no statuses. `read`
    may be a faster parser of JSON than the standard library's (`orjson.loads`): it changes how
    long reading takes, and nothing else.
    """
    return compile_results(spec, rows, adjudications, expected_sha256, read)


def open_results(file: str, data: bytes) -> Results:
    """Read `results.json`, and check that its numbers follow from the rows in it."""
    return recheck(read_results(file, data), file)


def tables(results: Results) -> dict[str, bytes]:
    """Every table as CSV and Markdown, by file name; the same bytes for the same results."""
    return table_files(all_tables(results))


def files(results: Results) -> dict[str, bytes]:
    """Everything that is published but the site: results, verdict, and tables in `tables/`."""
    return {
        RESULTS_FILE: results_json(results),
        VERDICT_FILE: verdict_json(results.verdict),
        **{f"tables/{name}": data for name, data in tables(results).items()},
    }


def report(results: Results) -> tuple[Table, ...]:
    """The tables that a terminal shows."""
    return report_tables(results)


def metrics_catalog(group: str | None = None) -> tuple[Descriptor, ...]:
    """The metric catalog, or one group of it."""
    if group is not None and group not in list(Group):
        raise AnalysisError(
            "is no group of metrics",
            file="metrics catalog",
            field="group",
            value=group,
            cure=f"Groups: {', '.join(Group)}.",
        )
    return in_group(None if group is None else Group(group))


def metrics_run(records: Documents, baseline: Documents | None = None) -> MetricsReport:
    """Metrics of recorded runs, with differences to a baseline's where one is given."""
    return report_metrics(records, baseline)


def power(
    spec: AnalysisSpec,
    assumptions: Mapping[str, Any],
    seed: int = 0,
    *,
    file: str = "assumptions",
    progress: Callable[[int, int], None] | None = None,
) -> Power:
    """Simulate the frozen analysis on assumptions (plain data, camelCase names)."""
    # Here, since every report would pay for it otherwise.
    from agentbench_analysis.power.simulate import simulate

    assumed = assumptions_from(assumptions, spec, file)
    return simulate(spec, assumed, seed, *(() if progress is None else (progress,)))


def as_json(value: Any) -> Iterator[str]:
    """A report of this package (`Power`, `MetricsReport`, ...) as JSON text, in pieces."""
    return codec.document(value)
