"""Tables run by run: every attempt, every failure with its cost, reruns, security flags."""

from collections import Counter

from agentbench_analysis.results.model import Attempt, Results, Standing
from agentbench_analysis.rows.read import number_of
from agentbench_analysis.rows.words import CheckVerdict, Outcome
from agentbench_analysis.tables.model import Kind, Table, columns

T = Kind.TEXT


def metric(attempt: Attempt, name: str) -> float | None:
    """A metric of an attempt as a number; None where it was not reported."""
    return number_of(attempt.metrics.get(name))


def runs(results: Results) -> Table:
    """Every attempt of the sample, in the frozen order."""
    return Table(
        id="runs",
        title="Every attempt",
        columns=columns(
            run=T,
            attempt=Kind.COUNT,
            task=T,
            stack=T,
            agent=T,
            plugins=T,
            repeat=Kind.COUNT,
            order=Kind.COUNT,
            standing=T,
            outcome=T,
            cause=T,
            final_cause=T,
            reasons=T,
            caps_hit=T,
            checks=T,
            security_flags=Kind.COUNT,
            cost=Kind.USD,
            time=Kind.SECONDS,
            tool_calls=Kind.COUNT,
            interventions=Kind.COUNT,
            repair_rounds=Kind.COUNT,
            withheld=T,
            row=T,
            sha256=T,
        ),
        rows=tuple(
            (
                each.run,
                each.attempt,
                each.task,
                each.stack,
                each.agent,
                " ".join(each.plugins),
                each.repeat,
                each.order,
                each.standing.value,
                each.outcome.value,
                each.cause,
                each.final_cause,
                " ".join(each.reasons),
                " ".join(each.caps_hit),
                checks(each),
                len(each.flags_standing),
                metric(each, "cost_usd"),
                metric(each, "agent_seconds"),
                metric(each, "tool_calls"),
                metric(each, "interventions"),
                metric(each, "repair_rounds"),
                " ".join(each.withheld),
                each.key,
                each.sha256,
            )
            for each in results.attempts
        ),
    )


def checks(attempt: Attempt) -> str:
    """How many executions of the check passed: `3 of 3`."""
    if not attempt.checks:
        return "not graded"
    passed = sum(line.verdict is CheckVerdict.PASS for line in attempt.checks)
    return f"{passed} of {len(attempt.checks)}"


def failed(results: Results) -> Table:
    """Every failed or aborted attempt, with its cost and the adjudicator's word."""
    rows = tuple(
        (
            each.run,
            each.attempt,
            each.task,
            each.stack,
            each.agent,
            each.standing.value,
            each.outcome.value,
            each.cause,
            each.final_cause,
            " ".join(each.reasons),
            checks(each),
            metric(each, "cost_usd"),
            metric(each, "agent_seconds"),
            _adjudicated(each),
            each.judgement.reason if each.judgement else None,
        )
        for each in results.attempts
        if each.outcome is not Outcome.PASS
    )
    unread = sum(each.unjudged for each in results.attempts if each.outcome is Outcome.FAIL)
    return Table(
        id="failed-runs",
        title="Every failed run",
        columns=columns(
            run=T,
            attempt=Kind.COUNT,
            task=T,
            stack=T,
            agent=T,
            standing=T,
            outcome=T,
            cause=T,
            final_cause=T,
            reasons=T,
            checks=T,
            cost=Kind.USD,
            time=Kind.SECONDS,
            adjudicated=T,
            adjudicator_says=T,
        ),
        rows=rows,
        notes=(f"{len(rows)} attempts; {unread} failures are unadjudicated",),
    )


def _adjudicated(each: Attempt) -> str:
    if each.outcome is Outcome.ABORTED:
        return "not needed"
    return "unadjudicated" if each.unjudged else f"by {each.judgement.by}" if each.judgement else ""


def reruns(results: Results) -> Table:
    """Every run with more than one attempt, or with none that scores, and why."""
    many = Counter(each.run for each in results.attempts)
    rows = tuple(
        (
            each.run,
            each.attempt,
            each.outcome.value,
            each.cause,
            each.final_cause,
            " ".join(each.reasons),
            each.standing.value,
            _adjudicated(each) if each.outcome is not Outcome.PASS else "",
        )
        for each in sorted(results.attempts, key=lambda each: (each.run, each.attempt))
        if many[each.run] > 1 or each.standing is Standing.UNSCORED
    )
    return Table(
        id="reruns",
        title="Reruns and runs that do not score",
        columns=columns(
            run=T,
            attempt=Kind.COUNT,
            outcome=T,
            cause=T,
            final_cause=T,
            reasons=T,
            standing=T,
            adjudicated=T,
        ),
        rows=rows,
    )


def security(results: Results) -> Table:
    """Every critical security flag, and whether it stands."""
    rows = tuple(
        (
            each.run,
            each.attempt,
            each.stack,
            flag.kind.value,
            flag.assertion,
            flag.detail,
            flag.assertion in each.flags_standing,
            "unadjudicated"
            if each.judgement is None or each.judgement.security is None
            else f"by {each.judgement.by}",
        )
        for each in results.attempts
        for flag in each.security.flags
    )
    return Table(
        id="security",
        title="Critical security flags",
        columns=columns(
            run=T,
            attempt=Kind.COUNT,
            stack=T,
            kind=T,
            assertion=T,
            detail=T,
            stands=Kind.FLAG,
            adjudicated=T,
        ),
        rows=rows,
    )
