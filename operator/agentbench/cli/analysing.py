"""From a campaign on this machine to the analysis, and from its tables to the screen."""

import orjson

from agentbench.cli.place import Place
from agentbench.cli.screen import Screen
from agentbench.pack.load import Pack
from agentbench_analysis.facade import analyse, spec_from_campaign
from agentbench_analysis.results.model import Results
from agentbench_analysis.spec import AnalysisSpec
from agentbench_analysis.tables.model import Table, readable


def analysis_spec(pack: Pack) -> AnalysisSpec:
    """The frozen choices of a campaign's analysis."""
    document = pack.spec.model_dump(mode="json", by_alias=True, exclude_none=True)
    return spec_from_campaign(document, campaign=pack.name, file=pack.source.file)


def results_of(place: Place) -> Results:
    """A campaign's results, computed from its rows and adjudications.

    Raises:
        NoRowsError: there is no row yet.
        AnalysisError: a row or adjudication cannot be used.
    """
    return analyse(
        analysis_spec(place.pack), place.rows(), place.adjudications(), read=orjson.loads
    )


def show(screen: Screen, table: Table) -> None:
    """One table with its title and notes."""
    screen.heading(table.title)
    screen.table(
        [column.name for column in table.columns],
        [
            [readable(value, column.kind) for value, column in zip(row, table.columns, strict=True)]
            for row in table.rows
        ],
        right=[column.name for column in table.columns if column.kind.numeric],
    )
    for note in table.notes:
        screen.say(f"  {note}")
    screen.say()
