"""Numbers that describe and decide nothing: rates, medians, spend and means by factor."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

import numpy as np

from agentbench_analysis.bootstrap.medians import Values, median
from agentbench_analysis.bootstrap.quantile import interval
from agentbench_analysis.catalog.descriptors import CATALOG, Descriptor, Kind
from agentbench_analysis.catalog.values import total_tokens
from agentbench_analysis.results.figures import figure, rate_figure
from agentbench_analysis.results.model import Attempt, CellLine, Figure
from agentbench_analysis.rows.model import Metric
from agentbench_analysis.rows.read import number_of
from agentbench_analysis.rows.words import Availability
from agentbench_analysis.sample.cells import COST, TIME, CellData, Sample
from agentbench_analysis.spec import AnalysisSpec, Rule
from agentbench_analysis.verdict.ground import Ground
from agentbench_analysis.verdict.ratio import Medians
from agentbench_analysis.verdict.security import rate_bound_figure, security_figure

Key = Callable[[CellLine], str]

GROUPINGS: dict[str, Key] = {
    "stack": lambda line: line.stack,
    "task": lambda line: line.task,
    "agent": lambda line: line.agent,
    "task-stack": lambda line: f"{line.task}/{line.stack}",
    "agent-stack": lambda line: f"{line.agent}/{line.stack}",
    "cell": lambda line: "/".join((line.task, line.stack, line.agent, *line.plugins)),
}
"""How cells are pooled in the descriptive tables; the key is part of a number's id."""

TOTAL = "tokens"
"""The one mean of a number that no row holds: it is the sum of its parts."""

QUANTITIES = {"cost": ("USD", COST), "time": ("seconds", TIME)}


def descriptive_figures(
    spec: AnalysisSpec,
    sample: Sample,
    attempts: Sequence[Attempt],
    medians: Mapping[Rule, Medians],
) -> Iterator[Figure]:
    """Every descriptive number of a campaign."""
    for grouping, key in GROUPINGS.items():
        groups: dict[str, list[CellData]] = {}
        for cell in sample.cells:
            groups.setdefault(key(cell.line), []).append(cell)
        for name, cells in groups.items():
            passed = sum(cell.line.passed for cell in cells)
            scored = sum(cell.line.scored for cell in cells)
            yield rate_figure(
                f"pass-rate/{grouping}/{name}",
                f"pass rate, {grouping} {name}",
                passed,
                scored,
                spec.confidence,
            )
            for quantity, (unit, _) in QUANTITIES.items():
                yield _median(spec, grouping, name, quantity, unit, cells, medians)
    ground = Ground(spec, sample, attempts)
    for stack in spec.stacks:
        yield security_figure(ground, f"security/stack/{stack.id}", stack.id)
        yield rate_bound_figure(ground, f"security-rate/stack/{stack.id}", stack.id)
    yield from _spend(spec, attempts)
    yield from _means(spec, [each for each in attempts if each.standing.counts])


def _median(
    spec: AnalysisSpec,
    grouping: str,
    name: str,
    quantity: str,
    unit: str,
    cells: Sequence[CellData],
    medians: Mapping[Rule, Medians],
) -> Figure:
    arrays = [cell.cost if quantity == "cost" else cell.seconds for cell in cells]
    values: Values = np.concatenate(arrays)
    passed = sum(cell.line.passed for cell in cells)
    reported = int(np.count_nonzero(~np.isnan(values)))
    bounds: tuple[float | None, float | None] = (None, None)
    method = "median over passing runs, middle two averaged"
    if grouping == "stack":
        drawn = medians[Rule(quantity)].sides[name].resampled
        drawn = drawn[~np.isnan(drawn)]
        if len(drawn):
            bounds = interval(drawn, spec.confidence, spec.quantile)
            method += f"; {spec.resamples} bootstrap resamples within cells, percentile"
    return figure(
        f"{quantity}/{grouping}/{name}",
        f"median {quantity} of passing runs, {grouping} {name}",
        unit,
        median(values),
        bounds=bounds,
        of=(reported, passed),
        method=method,
        reason=None if reported else ("no passing run" if not passed else "no value reported"),
        notes=() if reported == passed else (f"{reported} of {passed} passing runs reported",),
    )


def _spend(spec: AnalysisSpec, attempts: Sequence[Attempt]) -> Iterator[Figure]:
    """All money spent, on every attempt of the sample, failures and reruns among them."""
    groups = [("total", attempts)] + [
        (f"stack/{stack.id}", [each for each in attempts if each.stack == stack.id])
        for stack in spec.stacks
    ]
    for name, members in groups:
        amounts = [each.metrics[COST].value for each in members if _has(each, COST)]
        known = [amount for amount in amounts if isinstance(amount, str)]
        total = sum((Decimal(amount) for amount in known), Decimal(0))
        silent = len(members) - len(known)
        yield figure(
            f"spend/{name}",
            f"spend on all attempts, {name}",
            "USD",
            float(total) if known else None,
            of=(len(known), len(members)),
            method="exact decimal sum",
            notes=(f"{silent} attempts reported no cost",) if silent else (),
        )


def _has(attempt: Attempt, metric: str) -> bool:
    found = attempt.metrics.get(metric)
    return found is not None and found.value is not None


@dataclass(slots=True)
class _Said:
    """What the runs of a stack say of one metric."""

    numbers: list[float] = field(default_factory=list)
    silent: set[str | None] = field(default_factory=set)  # reasons of those without a value
    measured: bool = True

    def add(self, found: Metric) -> None:
        """Count one run's value, or its reason for having none."""
        number = number_of(found)
        if number is not None:
            self.numbers.append(number)
            self.measured = self.measured and found.availability is Availability.MEASURED
        elif found.value is None:
            self.silent.add(found.reason)


def _means(spec: AnalysisSpec, scored: Sequence[Attempt]) -> Iterator[Figure]:
    """Means of the catalog's numbers per stack, over the scored runs that reported."""
    metrics = [
        each
        for each in CATALOG
        if each.kind is Kind.MEAN
        and (each.availability is Availability.MEASURED or each.name == TOTAL)
    ]
    for stack in spec.stacks:
        members = [each for each in scored if each.stack == stack.id]
        said = {metric.name: _Said() for metric in metrics}
        # Run by run: a large campaign's rows fit no cache, and are walked through once.
        for each in members:
            for name, found in each.metrics.items():
                if name in said and name != TOTAL:
                    said[name].add(found)
            if TOTAL in said:
                said[TOTAL].add(total_tokens(each.metrics))
        for metric in metrics:
            yield _mean(metric, stack.id, said[metric.name], len(members))


def _mean(metric: Descriptor, stack: str, said: _Said, runs: int) -> Figure:
    numbers = said.numbers
    reasons = sorted(reason for reason in said.silent if reason)
    return figure(
        f"mean/{metric.name}/stack/{stack}",
        f"mean {metric.name} of scored runs, stack {stack}",
        metric.unit,
        sum(numbers) / len(numbers) if numbers else None,
        of=(len(numbers), runs),
        method="mean over the runs that reported",
        availability=Availability.MEASURED if said.measured else Availability.DERIVED,
        reason=None if numbers else (reasons[0] if reasons else "no run reported it"),
        notes=tuple(reasons) if numbers else (),
    )
