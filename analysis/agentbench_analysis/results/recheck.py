"""Do the numbers of a results file follow from the rows in it?"""

from collections.abc import Iterator
from math import isclose

from agentbench_analysis.errors import AnalysisError
from agentbench_analysis.pauses import uncollected
from agentbench_analysis.results.descriptive import descriptive_figures
from agentbench_analysis.results.model import Figure, Results
from agentbench_analysis.sample.cells import sample_of
from agentbench_analysis.verdict.decide import decide_all


def recheck(results: Results, file: str) -> Results:
    """Compute every number and decision again from the rows in the file.

    Returns:
        The same results, when they agree.

    Raises:
        AnalysisError: a number or a decision is not what the rows give.
    """
    with uncollected():
        sample = sample_of(results.spec, results.attempts)
        decided = decide_all(results.spec, sample, results.attempts)
        figures = (
            *decided.figures,
            *descriptive_figures(results.spec, sample, results.attempts, decided.medians),
        )
    for place, found, expected in _differences(results, figures):
        raise _disagreement(file, place, found, expected)
    if decided.verdict != results.verdict:
        raise _disagreement(file, "verdict", "another verdict", "see reasons")
    if tuple(cell.line for cell in sample.cells) != results.cells:
        raise _disagreement(file, "cells", "other counts", "see attempts")
    return results


def _differences(
    results: Results, figures: tuple[Figure, ...]
) -> Iterator[tuple[str, object, object]]:
    there = {each.id: each for each in results.figures}
    if there.keys() != {each.id for each in figures}:
        yield "figures", f"{len(there)} numbers", f"{len(figures)} numbers"
    for each in figures:
        found = there[each.id]
        for part in ("value", "lower", "upper"):
            old, new = getattr(found, part), getattr(each, part)
            same = old == new or (
                old is not None and new is not None and isclose(old, new, rel_tol=1e-9)
            )
            if not same:
                yield f"figures.{each.id}.{part}", old, new


def _disagreement(file: str, field: str, found: object, expected: object) -> AnalysisError:
    return AnalysisError(
        f"does not follow from the rows in the file, which give {expected}",
        file=file,
        field=field,
        value=str(found),
        cure="The file was edited: fetch it again, or analyse the rows again.",
    )
