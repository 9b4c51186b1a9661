"""The scored runs as numbers: one block per cell, ready for every statistic."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from agentbench_analysis.results.model import Attempt, CellLine
from agentbench_analysis.rows.read import number_of
from agentbench_analysis.rows.words import Outcome
from agentbench_analysis.spec import AnalysisSpec

Values = NDArray[np.float64]

COST = "cost_usd"
TIME = "agent_seconds"


@dataclass(frozen=True, slots=True)
class CellData:
    """The scored runs of one cell, in order of repeat.

    `cost` (US dollars) and `seconds` are NaN where a run did not pass, or passed and did not
    report the value; so a passing run without a value is `passed` with NaN.
    """

    line: CellLine
    passed: NDArray[np.bool_]
    cost: Values
    seconds: Values


@dataclass(frozen=True, slots=True)
class Sample:
    """Every cell of the design, in frozen order."""

    spec: AnalysisSpec
    cells: tuple[CellData, ...]

    def of_stack(self, stack: str) -> tuple[CellData, ...]:
        """The cells of one stack: the strata of its resamples."""
        return tuple(cell for cell in self.cells if cell.line.stack == stack)

    @property
    def empty(self) -> tuple[CellLine, ...]:
        """Cells without any scored run, which no resampling can fill."""
        return tuple(cell.line for cell in self.cells if not cell.line.scored)


def sample_of(spec: AnalysisSpec, attempts: Iterable[Attempt]) -> Sample:
    """Sort the attempts that count into the cells of the design."""
    order = product(spec.tasks, spec.stacks, spec.agents, spec.plugin_sets)
    blocks: dict[tuple[str, str, str, tuple[str, ...]], list[Attempt]] = {
        (task.id, stack.id, agent.id, plugins): [] for task, stack, agent, plugins in order
    }
    for each in attempts:
        if each.standing.counts:
            blocks[each.task, each.stack, each.agent, each.plugins].append(each)
    return Sample(
        spec=spec,
        cells=tuple(_cell(key, block, spec.repeats) for key, block in blocks.items()),
    )


def _cell(
    key: tuple[str, str, str, tuple[str, ...]], block: list[Attempt], planned: int
) -> CellData:
    block.sort(key=lambda each: each.repeat)
    passed = np.array([each.outcome is Outcome.PASS for each in block], dtype=np.bool_)
    task, stack, agent, plugins = key
    return CellData(
        line=CellLine(
            task=task,
            stack=stack,
            agent=agent,
            plugins=plugins,
            planned=planned,
            scored=len(block),
            passed=int(passed.sum()),
        ),
        passed=passed,
        cost=_passing(block, COST),
        seconds=_passing(block, TIME),
    )


def _passing(block: list[Attempt], metric: str) -> Values:
    values = [
        number_of(each.metrics.get(metric)) if each.outcome is Outcome.PASS else None
        for each in block
    ]
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
