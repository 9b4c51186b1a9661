"""Who is to blame: one pure table from what was seen to outcome, cause and reason codes.

What an agent printed is no input of this table, so no agent can argue its own case.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agentbench.core.reasons import Reason
from agentbench.core.summary import Cap, Ending, Summary
from agentbench_analysis.rows.model import Check, Security
from agentbench_analysis.rows.words import Cause, CheckVerdict, Outcome

CAP_REASONS = {
    Cap.WALL: Reason.CAP_WALL,
    Cap.COST: Reason.CAP_COST,
    Cap.TOOL_CALLS: Reason.CAP_TOOL_CALLS,
    Cap.INTERVENTIONS: Reason.INTERVENTIONS,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Something that the place itself saw go wrong, with what was seen, in words."""

    reason: Reason
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """All that is known of an attempt when it is judged.

    `place` holds faults in the order pod, node, init, services, warden, main. `summary` is
    None where the warden left none. `checks` is empty where grading was not reached.
    """

    place: Sequence[Fault] = ()
    summary: Summary | None = None
    checks: Sequence[Check] = ()
    repeats: int
    security: Security


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The outcome of an attempt and everything that led to it."""

    outcome: Outcome
    cause: Cause | None
    reasons: tuple[Reason, ...]
    evidence: tuple[str, ...]


def judge(seen: Evidence, order: Sequence[Cause] = tuple(Cause)) -> Judgement:
    """Decide outcome, cause and reason codes of an attempt.

    All codes are kept; the cause is the first of `order` that any code has. A run passes if
    every repeat of its check passed and nothing else failed it. A security flag is a code of
    its own: it takes the blame for a run that failed, and is counted on every run, but does
    not by itself turn a pass into a fail (the pass check alone defines a pass).
    """
    faults = tuple(_unique(_faults(seen)))
    reasons = tuple(fault.reason for fault in faults)
    evidence = tuple(f"{f.reason}: {f.detail}" if f.detail else str(f.reason) for f in faults)
    failing = [reason for reason in reasons if reason is not Reason.SECURITY_FAILED]
    if not failing:
        return Judgement(outcome=Outcome.PASS, cause=None, reasons=reasons, evidence=evidence)
    causes = {reason.cause for reason in reasons}
    cause = next(cause for cause in order if cause in causes)
    return Judgement(outcome=Outcome.FAIL, cause=cause, reasons=reasons, evidence=evidence)


def _faults(seen: Evidence) -> Iterator[Fault]:
    yield from seen.place
    graded = bool(seen.checks)
    if seen.summary is None:
        if not seen.place:
            yield Fault(reason=Reason.WARDEN_DIED, detail="it left no summary")
    else:
        infra = any(fault.reason.cause is Cause.INFRA for fault in seen.place)
        yield from _agent_faults(seen.summary, infra)
        explained = infra or any(fault.reason is Reason.AGENT_DISK for fault in seen.place)
        if not graded and not explained:
            yield Fault(reason=Reason.CHECK_ERROR, detail="the final state was never graded")
    if graded:
        yield from _check_faults(seen.checks, seen.repeats)
        yield from _security_faults(seen.security)


def _agent_faults(summary: Summary, explained: bool) -> Iterator[Fault]:
    """What the warden saw; where the place explains why a pod ended, its end is no news."""
    provider = summary.provider
    if summary.set_up_failed:
        yield Fault(reason=Reason.SETUP_FAILED, detail=summary.set_up_failed)
    if summary.interrupted and not explained:
        yield Fault(reason=Reason.POD_DELETED, detail=summary.interrupted)
    if summary.sandbox_failed:
        yield Fault(reason=Reason.WARDEN_DIED, detail=f"sandbox: {summary.sandbox_failed}")
    if provider.outage:
        last = provider.last_status or "no connection"
        yield Fault(
            reason=Reason.PROVIDER_OUTAGE,
            detail=f"the last {provider.trailing_failures} calls failed ({last})",
        )
    if provider.unpriced_models:
        names = ", ".join(provider.unpriced_models)
        yield Fault(reason=Reason.UNPRICED_MODEL, detail=f"no price for {names}")
    for cap in summary.caps_hit:
        yield Fault(reason=CAP_REASONS[cap])
    if summary.ending is Ending.CRASHED:
        end = f"signal {summary.signal}" if summary.signal else f"exit {summary.exit_code}"
        yield Fault(reason=Reason.AGENT_CRASH, detail=end)
    known = explained or summary.set_up_failed or summary.interrupted
    if summary.ending is Ending.NOT_STARTED and not known:
        yield Fault(reason=Reason.WARDEN_DIED, detail="the agent was never started")


def _check_faults(checks: Sequence[Check], repeats: int) -> Iterator[Fault]:
    errors = [check for check in checks if check.verdict is CheckVerdict.ERROR]
    for check in errors:
        reason = Reason(check.reason) if check.reason else Reason.CHECK_ERROR
        yield Fault(reason=reason, detail=f"repeat {check.repeat}, exit {check.exit_code}")
    if len(checks) < repeats:
        yield Fault(reason=Reason.CHECK_ERROR, detail=f"{len(checks)} of {repeats} repeats ran")
    failed = [check for check in checks if check.verdict is CheckVerdict.FAIL]
    passed = [check for check in checks if check.verdict is CheckVerdict.PASS]
    if failed and passed:
        yield Fault(
            reason=Reason.CHECK_FLAKY,
            detail=f"{len(passed)} of {len(checks)} repeats passed",
        )
    for check in failed:
        lost = ", ".join(line.id for line in check.asserts if not line.ok)
        yield Fault(
            reason=Reason(check.reason) if check.reason else Reason.CHECK_FAILED, detail=lost
        )


def _security_faults(security: Security) -> Iterator[Fault]:
    if not security.ran and security.reason == Reason.APP_NOT_STARTED:
        yield Fault(reason=Reason.APP_NOT_STARTED, detail="security")
    elif not security.ran:
        yield Fault(reason=Reason.CHECK_ERROR, detail=f"security: {security.reason or 'not run'}")
    for flag in security.flags:
        yield Fault(reason=Reason.SECURITY_FAILED, detail=f"{flag.kind}, {flag.assertion}")


def _unique(faults: Iterator[Fault]) -> Iterator[Fault]:
    """Keep the first fault of each reason code."""
    seen: set[Reason] = set()
    for fault in faults:
        if fault.reason not in seen:
            seen.add(fault.reason)
            yield fault
