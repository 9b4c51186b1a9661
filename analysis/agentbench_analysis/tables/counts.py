"""Tables of counts: causes, tokens, interventions, rows kept out, money."""

from collections import Counter

from agentbench_analysis.catalog.values import TOKEN_PARTS
from agentbench_analysis.codec import settled
from agentbench_analysis.results.model import Results
from agentbench_analysis.rows.words import Cause, Outcome
from agentbench_analysis.tables.model import Column, Kind, Table, Value, columns
from agentbench_analysis.tables.runs import metric

T = Kind.TEXT


def causes(results: Results) -> Table:
    """Scored failures by stack and final cause; infrastructure apart, as attempts."""
    counted = Counter(
        (each.stack, each.final_cause) for each in results.scored if each.outcome is Outcome.FAIL
    )
    lost = Counter(each.stack for each in results.attempts if each.final_cause is Cause.INFRA)
    crashed = Counter(each.stack for each in results.attempts if "AgentCrash" in each.reasons)
    order = [cause for cause in results.spec.cause_order if cause is not Cause.INFRA]
    return Table(
        id="causes",
        title="Failures by cause",
        columns=(
            Column("stack"),
            *(Column(cause.value, Kind.COUNT) for cause in order),
            Column("agent crashes", Kind.COUNT),
            Column("attempts lost to infra", Kind.COUNT),
        ),
        rows=tuple(
            (
                stack.id,
                *(counted[stack.id, cause] for cause in order),
                crashed[stack.id],
                lost[stack.id],
            )
            for stack in results.spec.stacks
        ),
        notes=("a crash is one kind of failure of the agent: it is counted among the causes too",),
    )


def tokens(results: Results) -> Table:
    """Tokens by kind and stack: sums over the scored runs that reported."""
    rows: list[tuple[Value, ...]] = []
    for stack in results.spec.stacks:
        members = [each for each in results.scored if each.stack == stack.id]
        for name in (*TOKEN_PARTS, "reasoning"):
            values = [v for each in members if (v := metric(each, name)) is not None]
            total = settled(sum(values)) if values else None
            mean = settled(sum(values) / len(values)) if values else None
            rows.append((stack.id, name, total, mean, len(values), len(members)))
    return Table(
        id="tokens",
        title="Tokens by kind",
        columns=columns(
            stack=T,
            kind=T,
            sum=Kind.COUNT,
            mean=Kind.NUMBER,
            reported=Kind.COUNT,
            runs=Kind.COUNT,
        ),
        rows=tuple(rows),
        notes=("reasoning is part of output",),
    )


def conduct(results: Results) -> Table:
    """Interventions and repair rounds: how many scored runs had how many."""
    rows: list[tuple[Value, ...]] = []
    for name in ("interventions", "repair_rounds"):
        for stack in results.spec.stacks:
            members = [each for each in results.scored if each.stack == stack.id]
            values = [metric(each, name) for each in members]
            there = [value for value in values if value is not None]
            spread = [sum(value == count for value in there) for count in range(4)]
            rows.append(
                (
                    name,
                    stack.id,
                    *spread,
                    sum(value > 3 for value in there),
                    settled(sum(there)) if there else None,
                    len(there),
                    len(members),
                )
            )
    return Table(
        id="interventions-and-repairs",
        title="Interventions and repair rounds",
        columns=(
            Column("what"),
            Column("stack"),
            *(Column(text, Kind.COUNT) for text in ("0", "1", "2", "3", "above 3", "sum")),
            Column("reported", Kind.COUNT),
            Column("runs", Kind.COUNT),
        ),
        rows=tuple(rows),
        notes=("numbers of scored runs; repair rounds describe and decide nothing",),
    )


def kept_out(results: Results) -> Table:
    """Rows that were read and kept out of the sample."""
    return Table(
        id="kept-out",
        title="Rows kept out of the sample",
        columns=columns(reason=T, rows=Kind.COUNT, example=T),
        rows=tuple((each.reason, each.rows, each.example) for each in results.kept_out),
        notes=results.notes or ("none",),
    )


def spend(results: Results) -> Table:
    """Money spent on every attempt, failures and reruns among them."""
    return Table(
        id="spend",
        title="Spend",
        columns=columns(
            what=T, spend=Kind.USD, reported=Kind.COUNT, attempts=Kind.COUNT, notes=T, id=Kind.ID
        ),
        rows=tuple(
            (each.label, each.value, each.count, each.total, "; ".join(each.notes), each.id)
            for each in results.figures
            if each.id.startswith("spend/")
        ),
    )
