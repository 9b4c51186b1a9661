"""From documents to results: read, score, decide, and put every number under an id."""

from collections.abc import Iterable, Mapping

from agentbench_analysis.parsing import Read
from agentbench_analysis.pauses import uncollected
from agentbench_analysis.results.descriptive import descriptive_figures
from agentbench_analysis.results.model import Results
from agentbench_analysis.sample.attempts import read_attempts
from agentbench_analysis.sample.cells import sample_of
from agentbench_analysis.spec import AnalysisSpec
from agentbench_analysis.verdict.decide import decide_all

Documents = Iterable[tuple[str, bytes]]


def compile_results(
    spec: AnalysisSpec,
    rows: Documents,
    adjudications: Documents = (),
    expected: Mapping[tuple[str, int], str] | None = None,
    read: Read | None = None,
) -> Results:
    """Analyse a campaign from its rows and adjudications, by the frozen choices alone.

    Rows are read one at a time. `expected` gives the sha256 that a run's status names, by run
    and attempt, where the caller knows it. `read` may be a faster parser of JSON.

    Raises:
        AnalysisError: something is wrong with a document; there are no results then.
        NoRowsError: there is no row of this campaign's sample.
    """
    with uncollected():
        reading = read_attempts(spec, rows, adjudications, expected, read)
        sample = sample_of(spec, reading.attempts)
        decided = decide_all(spec, sample, reading.attempts)
        return Results(
            spec=spec,
            verdict=decided.verdict,
            kept_out=reading.kept_out,
            cells=tuple(cell.line for cell in sample.cells),
            figures=(
                *decided.figures,
                *descriptive_figures(spec, sample, reading.attempts, decided.medians),
            ),
            notes=reading.notes,
            attempts=reading.attempts,
        )
