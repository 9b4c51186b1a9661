"""Tables by stack, task, agent and cell; they describe, and no hypothesis is tested on them."""

from collections.abc import Mapping

from agentbench_analysis.results.descriptive import GROUPINGS, QUANTITIES
from agentbench_analysis.results.model import CellLine, Figure, Results
from agentbench_analysis.tables.model import Kind, Table, Value, columns

T = Kind.TEXT
DESCRIPTIVE = "descriptive: no hypothesis is tested on it"


def figures_by_id(results: Results) -> Mapping[str, Figure]:
    """Every published number by its id."""
    return {each.id: each for each in results.figures}


def groups(results: Results, grouping: str) -> tuple[str, ...]:
    """The names of a grouping, in frozen order."""
    return tuple(dict.fromkeys(GROUPINGS[grouping](line) for line in results.cells))


def names(results: Results) -> dict[str, str]:
    """Every factor's name for people, by id."""
    spec = results.spec
    return {each.id: each.name for each in (*spec.tasks, *spec.stacks, *spec.agents)}


def pass_rates(results: Results) -> Table:
    """Pass rates with Wilson intervals, pooled by stack, task, agent, and pairs of them."""
    by_id, called = figures_by_id(results), names(results)
    rows: list[tuple[Value, ...]] = []
    for grouping in ("stack", "task", "agent", "task-stack", "agent-stack"):
        for name in groups(results, grouping):
            each = by_id[f"pass-rate/{grouping}/{name}"]
            label = " / ".join(called[part] for part in name.split("/"))
            rows.append(
                (
                    grouping,
                    name,
                    label,
                    each.count,
                    each.total,
                    each.value,
                    each.lower,
                    each.upper,
                    each.id,
                )
            )
    return Table(
        id="pass-rates",
        title="Pass rates",
        columns=columns(
            by=T,
            factor=T,
            name=T,
            passed=Kind.COUNT,
            scored=Kind.COUNT,
            rate=Kind.SHARE,
            lower=Kind.SHARE,
            upper=Kind.SHARE,
            id=Kind.ID,
        ),
        rows=tuple(rows),
        notes=(f"Wilson intervals, {results.spec.confidence * 100:g} %", DESCRIPTIVE),
    )


def cells(results: Results) -> Table:
    """Every cell, with the marks that say where a number is weak."""
    by_id = figures_by_id(results)
    rows: list[tuple[Value, ...]] = []
    for line in results.cells:
        each = by_id[f"pass-rate/cell/{GROUPINGS['cell'](line)}"]
        rows.append(
            (
                line.task,
                line.stack,
                line.agent,
                " ".join(line.plugins),
                line.planned,
                line.scored,
                line.passed,
                each.value,
                each.lower,
                each.upper,
                marks(line),
                each.id,
            )
        )
    short = sum(line.incomplete for line in results.cells)
    return Table(
        id="cells",
        title="Cells",
        columns=columns(
            task=T,
            stack=T,
            agent=T,
            plugins=T,
            planned=Kind.COUNT,
            scored=Kind.COUNT,
            passed=Kind.COUNT,
            rate=Kind.SHARE,
            lower=Kind.SHARE,
            upper=Kind.SHARE,
            marks=T,
            id=Kind.ID,
        ),
        rows=tuple(rows),
        notes=(f"{short} of {len(results.cells)} cells are incomplete", DESCRIPTIVE),
    )


def marks(line: CellLine) -> str:
    """What to know about a cell before reading its rate."""
    found = []
    if line.incomplete:
        found.append(f"incomplete: {line.scored} of {line.planned}")
    if line.degenerate:
        found.append("degenerate")
    return ", ".join(found)


def medians(results: Results) -> Table:
    """Median cost and time of passing runs, and how many of them reported."""
    by_id = figures_by_id(results)
    rows: list[tuple[Value, ...]] = []
    for quantity in QUANTITIES:
        for grouping in ("stack", "task", "agent", "task-stack", "agent-stack"):
            for name in groups(results, grouping):
                each = by_id[f"{quantity}/{grouping}/{name}"]
                rows.append(
                    (
                        quantity,
                        grouping,
                        name,
                        each.unit,
                        each.value,
                        each.lower,
                        each.upper,
                        each.count,
                        each.total,
                        each.reason,
                        each.id,
                    )
                )
    return Table(
        id="medians",
        title="Median cost and time of passing runs",
        columns=columns(
            quantity=T,
            by=T,
            factor=T,
            unit=T,
            median=Kind.NUMBER,
            lower=Kind.NUMBER,
            upper=Kind.NUMBER,
            reported=Kind.COUNT,
            passing=Kind.COUNT,
            reason=T,
            id=Kind.ID,
        ),
        rows=tuple(rows),
        notes=("intervals only where runs are pooled by stack", DESCRIPTIVE),
    )


def lost(results: Results) -> Table:
    """Every task on which the reference stack did worse than another one, in anything."""
    by_id, called = figures_by_id(results), names(results)
    reference = results.spec.reference
    rows: list[tuple[Value, ...]] = []
    for task in results.spec.tasks:
        for quantity, worse in (("pass-rate", -1), ("cost", 1), ("time", 1)):
            own = by_id[f"{quantity}/task-stack/{task.id}/{reference}"]
            for stack in results.spec.others:
                other = by_id[f"{quantity}/task-stack/{task.id}/{stack.id}"]
                if own.value is None or other.value is None:
                    silent = own.value is None and other.value is not None
                    if not silent or quantity == "pass-rate":
                        continue
                elif (own.value - other.value) * worse <= 0:
                    continue
                rows.append(
                    (
                        task.id,
                        task.name,
                        quantity,
                        own.unit,
                        own.value,
                        called[stack.id],
                        other.value,
                        own.reason,
                        own.id,
                        other.id,
                    )
                )
    return Table(
        id="where-we-lost",
        title=f"Where {results.spec.reference_name} lost",
        columns=columns(
            task=T,
            name=T,
            quantity=T,
            unit=T,
            own=Kind.NUMBER,
            other_stack=T,
            other=Kind.NUMBER,
            reason=T,
            own_id=Kind.ID,
            other_id=Kind.ID,
        ),
        rows=tuple(rows),
        notes=(
            "every task on which another stack passed more often, or its passing runs were "
            "cheaper or faster",
            DESCRIPTIVE,
        ),
    )


def means(results: Results) -> Table:
    """Means of every measured metric per stack, with the count that reported."""
    rows = tuple(
        (
            each.id.split("/")[1],
            each.id.rsplit("/", 1)[1],
            each.unit,
            each.value,
            each.count,
            each.total,
            each.availability.value,
            each.reason or "; ".join(each.notes),
            each.id,
        )
        for each in results.figures
        if each.id.startswith("mean/")
    )
    return Table(
        id="metrics",
        title="Metrics per stack",
        columns=columns(
            metric=T,
            stack=T,
            unit=T,
            mean=Kind.NUMBER,
            reported=Kind.COUNT,
            runs=Kind.COUNT,
            availability=T,
            reason=T,
            id=Kind.ID,
        ),
        rows=rows,
        notes=(
            "means over the scored runs that reported; cheaper or faster is not better: read it "
            "beside the pass rates",
        ),
    )
