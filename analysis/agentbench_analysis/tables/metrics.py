"""The metric catalog and the metrics of recorded runs, as tables."""

from collections.abc import Sequence

from agentbench_analysis.catalog.aggregate import MetricsReport
from agentbench_analysis.catalog.descriptors import Descriptor
from agentbench_analysis.tables.model import Kind, Table, columns

T = Kind.TEXT


def catalog_table(catalog: Sequence[Descriptor]) -> Table:
    """Every metric: what it says, its unit, its source, and whether it can be had."""
    return Table(
        id="catalog",
        title="Metric catalog",
        columns=columns(
            group=T,
            metric=T,
            unit=T,
            what=T,
            availability=T,
            source=T,
            decides_the_outcome=Kind.FLAG,
            reason=T,
        ),
        rows=tuple(
            (
                each.group.value,
                each.name,
                each.unit,
                each.title,
                each.availability.value,
                each.source,
                each.group.decides,
                each.reason,
            )
            for each in catalog
        ),
    )


def metrics_tables(report: MetricsReport) -> tuple[Table, ...]:
    """Metrics over the runs that reported, and the differences to the baseline."""
    metrics = Table(
        id="metrics",
        title=f"Metrics of {report.records} recorded attempts",
        columns=columns(
            group=T,
            metric=T,
            unit=T,
            value=Kind.NUMBER,
            reported=Kind.COUNT,
            of=Kind.COUNT,
            share=Kind.SHARE,
            availability=T,
            reason=T,
        ),
        rows=tuple(
            (
                each.group.value,
                each.name,
                each.unit,
                ", ".join(f"{word} ({n})" for word, n in each.words.items()) or each.value,
                each.count,
                each.total,
                each.share,
                each.availability.value,
                each.reason,
            )
            for each in report.metrics
        ),
        notes=("cheaper or faster is not better: read it beside the quality metrics",),
    )
    if report.baseline_records is None:
        return (metrics,)
    deltas = Table(
        id="deltas",
        title=f"Against a baseline of {report.baseline_records} recorded attempts",
        columns=columns(difference=T, formula=T, value=Kind.NUMBER, absolute=Kind.FLAG, note=T),
        rows=tuple(
            (each.name, each.formula, each.value, each.absolute, each.note)
            for each in report.deltas
        ),
    )
    return metrics, deltas
