"""Metrics of several runs: means over the runs that reported, with count and share beside."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from agentbench_analysis.catalog.deltas import Delta, deltas
from agentbench_analysis.catalog.descriptors import CATALOG, Descriptor, Group, Kind
from agentbench_analysis.catalog.values import value_of
from agentbench_analysis.codec import settled
from agentbench_analysis.errors import AnalysisError, NoRowsError
from agentbench_analysis.rows.model import Metric, Row
from agentbench_analysis.rows.read import number_of, parse_row
from agentbench_analysis.rows.words import Availability

METRICS_SCHEMA: Literal["agentbench.metrics/v1"] = "agentbench.metrics/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricLine:
    """One metric over several runs.

    `value` is a mean or a share over the `count` of `total` runs that reported; `share` is
    count / total. `words` counts the different values of a metric that is text.
    """

    name: str
    group: Group
    unit: str
    title: str
    decides: bool
    value: float | None
    words: dict[str, int]
    count: int
    total: int
    share: float
    availability: Availability
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsReport:
    """The metrics of some recorded runs, and how they differ from a baseline's."""

    schema: Literal["agentbench.metrics/v1"] = METRICS_SCHEMA
    records: int
    baseline_records: int | None
    metrics: tuple[MetricLine, ...]
    deltas: tuple[Delta, ...]


def report_metrics(
    records: Iterable[tuple[str, bytes]], baseline: Iterable[tuple[str, bytes]] | None = None
) -> MetricsReport:
    """Aggregate every metric of the catalog over recorded runs, with baseline deltas.

    Raises:
        AnalysisError: a record is malformed, or records of two protocols are mixed.
        NoRowsError: there is no record on one side.
    """
    lines = aggregate(_rows(records, "records"))
    if baseline is None:
        return MetricsReport(
            records=lines[0].total, baseline_records=None, metrics=lines, deltas=()
        )
    base = aggregate(_rows(baseline, "baseline"))
    return MetricsReport(
        records=lines[0].total,
        baseline_records=base[0].total,
        metrics=lines,
        deltas=deltas(
            {line.name: line.value for line in lines}, {line.name: line.value for line in base}
        ),
    )


def _rows(documents: Iterable[tuple[str, bytes]], side: str) -> list[Row]:
    rows: list[Row] = []
    first = ""
    for file, data in documents:
        row = parse_row(file, data)
        if rows and row.digest != rows[0].digest:
            raise AnalysisError(
                f"differs from the digest of {first}, {rows[0].digest}",
                file=file,
                field="digest",
                value=row.digest,
                cure="Runs of two protocols are not averaged: name records of one, and give the "
                "others as the baseline.",
            )
        first = first or file
        rows.append(row)
    if not rows:
        raise NoRowsError("no rows", file=side, cure="Name at least one recorded run.")
    return rows


def aggregate(rows: Sequence[Row]) -> tuple[MetricLine, ...]:
    """Every metric of the catalog over the rows."""
    return tuple(_line(each, [value_of(each.name, row) for row in rows]) for each in CATALOG)


def _line(metric: Descriptor, values: Sequence[Metric]) -> MetricLine:
    reported = [each for each in values if each.value is not None]
    numbers = [number for each in reported if (number := number_of(each)) is not None]
    words: Counter[str] = Counter()
    value = None
    if metric.kind is Kind.WORDS:
        words.update(str(each.value) for each in reported)
    elif numbers:
        value = settled(sum(numbers) / len(numbers))
    availability, reason = _availability(values)
    return MetricLine(
        name=metric.name,
        group=metric.group,
        unit=metric.unit,
        title=metric.title,
        decides=metric.group.decides,
        value=value,
        words=dict(sorted(words.items())),
        count=len(reported),
        total=len(values),
        share=settled(len(reported) / len(values)),
        availability=availability,
        reason=reason,
    )


def _availability(values: Sequence[Metric]) -> tuple[Availability, str | None]:
    """The weakest availability of the values that are there; and why others are not."""
    there = {each.availability for each in values if each.value is not None}
    reasons = Counter(
        each.reason or "no reason given" for each in values if each.value is None
    ).most_common(1)
    why = f"{reasons[0][1]} runs: {reasons[0][0]}" if reasons else None
    if not there:
        return Availability.UNAVAILABLE, why
    return (Availability.DERIVED if Availability.DERIVED in there else Availability.MEASURED), why
