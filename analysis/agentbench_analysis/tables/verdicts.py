"""Tables of what was decided: hypotheses, claims, what stands beside, and amendments."""

from agentbench_analysis.results.model import Figure, Results
from agentbench_analysis.tables.model import Kind, Table, columns

T = Kind.TEXT


def hypotheses(results: Results) -> Table:
    """Every hypothesis with its number, its interval, and the decision."""
    rows = []
    by_id = {each.id: each for each in results.figures}
    for each in results.verdict.findings:
        number = by_id.get(each.figures[0]) if each.figures else None
        rows.append(
            (
                each.hypothesis,
                each.statement,
                each.rules,
                each.decision.value,
                each.incomplete,
                each.condition,
                number.value if number else None,
                number.lower if number else None,
                _upper(number),
                "; ".join(each.reasons),
                number.id if number else "",
            )
        )
    return Table(
        id="hypotheses",
        title="Hypotheses",
        columns=columns(
            hypothesis=T,
            statement=T,
            rules=T,
            decision=T,
            incomplete=Kind.FLAG,
            holds_if=T,
            value=Kind.NUMBER,
            lower=Kind.NUMBER,
            upper=Kind.NUMBER,
            why=T,
            id=Kind.ID,
        ),
        rows=tuple(rows),
        notes=results.verdict.notes,
    )


def _upper(number: Figure | None) -> float | str | None:
    if number is None:
        return None
    return "infinite" if number.unbounded else number.upper


def claims(results: Results) -> Table:
    """Every condition of the claim, and whether the headline may be used."""
    verdict = results.verdict
    rows = [
        (
            each.claim,
            each.statement,
            each.rules,
            each.decision.value,
            each.incomplete,
            ", ".join(each.hypotheses),
            "; ".join(each.reasons),
        )
        for each in verdict.claims
    ]
    needed = f"“{verdict.claim}” needs every condition: {verdict.headline.value}"
    return Table(
        id="claims",
        title="Conditions of the claim",
        columns=columns(
            claim=T, condition=T, rules=T, decision=T, incomplete=Kind.FLAG, rests_on=T, why=T
        ),
        rows=tuple(rows),
        notes=(needed,),
    )


def beside(results: Results) -> Table:
    """Everything that touches a decision, and every alternative way to compute it."""
    by_id = {each.id: each for each in results.figures}
    rows: list[tuple[str, str, str, float | None, float | None, float | str | None, str]] = []
    for finding in results.verdict.findings:
        for note in finding.beside:
            rows.append((finding.hypothesis, finding.rules, note, None, None, None, ""))
        for ident in finding.figures:
            number = by_id[ident]
            text = f"{number.label} ({number.method})"
            text += "".join(f"; {note}" for note in number.notes)
            text += f"; {number.reason}" if number.reason else ""
            rows.append(
                (
                    finding.hypothesis,
                    finding.rules,
                    text,
                    number.value,
                    number.lower,
                    _upper(number),
                    ident,
                )
            )
    return Table(
        id="beside",
        title="Printed beside the decisions",
        columns=columns(
            hypothesis=T,
            rules=T,
            what=T,
            value=Kind.NUMBER,
            lower=Kind.NUMBER,
            upper=Kind.NUMBER,
            id=Kind.ID,
        ),
        rows=tuple(rows),
    )


def amendments(results: Results) -> Table:
    """The dated changes of the protocol."""
    return Table(
        id="amendments",
        title="Amendments",
        columns=columns(
            seq=Kind.COUNT, date=T, change=T, why=T, any_run_started=Kind.FLAG, effects=T
        ),
        rows=tuple(
            (each.seq, each.date, each.change, each.why, each.any_run_started, each.note)
            for each in results.spec.amendments
        ),
        notes=() if results.spec.amendments else ("none",),
    )


def numbers(results: Results) -> Table:
    """Every published number under its id."""
    return Table(
        id="numbers",
        title="Every published number",
        columns=columns(
            id=Kind.ID,
            label=T,
            unit=T,
            value=Kind.NUMBER,
            lower=Kind.NUMBER,
            upper=Kind.NUMBER,
            count=Kind.COUNT,
            total=Kind.COUNT,
            availability=T,
            method=T,
            reason=T,
            notes=T,
        ),
        rows=tuple(
            (
                each.id,
                each.label,
                each.unit,
                each.value,
                each.lower,
                _upper(each),
                each.count,
                each.total,
                each.availability.value,
                each.method,
                each.reason,
                "; ".join(each.notes),
            )
            for each in results.figures
        ),
    )
