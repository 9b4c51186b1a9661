"""What one row says of one metric: a value and its availability, never a guess."""

from collections.abc import Callable

from agentbench_analysis.catalog.descriptors import BY_NAME
from agentbench_analysis.rows.model import Metric, Row
from agentbench_analysis.rows.read import number_of
from agentbench_analysis.rows.words import Availability, Cause, CheckVerdict, Outcome

TOKEN_PARTS = ("input_uncached", "cache_read", "cache_write_5m", "cache_write_1h", "output")
"""What adds up to all tokens; reasoning is inside the output."""


def unavailable(reason: str) -> Metric:
    """No value, and why."""
    return Metric(value=None, availability=Availability.UNAVAILABLE, reason=reason)


def derived(value: float | str, reason: str | None = None) -> Metric:
    """A value computed from others."""
    return Metric(value=value, availability=Availability.DERIVED, reason=reason)


def value_of(name: str, row: Row) -> Metric:
    """The value of a metric of the catalog for one row."""
    compute = _DERIVED.get(name)
    if compute is not None:
        return compute(row)
    found = row.metrics.get(name)
    if found is not None:
        return found
    return unavailable(BY_NAME[name].reason or "the row does not report it")


def total_tokens(metrics: dict[str, Metric]) -> Metric:
    """All tokens of a run; unavailable where input or output is, and named if a part is."""
    parts = {name: number_of(metrics.get(name)) for name in TOKEN_PARTS}
    if parts["input_uncached"] is None or parts["output"] is None:
        return unavailable("input or output tokens were not reported")
    missing = [name for name, value in parts.items() if value is None]
    total = sum(value for value in parts.values() if value is not None)
    return derived(total, f"without {', '.join(missing)}: not reported" if missing else None)


def _success(row: Row) -> Metric:
    if row.outcome is Outcome.ABORTED:
        return unavailable("aborted before it could be judged")
    if row.cause is Cause.INFRA:
        return unavailable("lost to infrastructure, which says nothing about the agent")
    return derived(float(row.outcome is Outcome.PASS))


def _check_pass_rate(row: Row) -> Metric:
    judged = [check for check in row.checks if check.verdict is not CheckVerdict.ERROR]
    if not judged:
        return unavailable("no execution of the check reached a verdict")
    return derived(sum(check.verdict is CheckVerdict.PASS for check in judged) / len(judged))


def _assertion_pass_rate(row: Row) -> Metric:
    lines = [line for check in row.checks for line in check.asserts]
    if not lines:
        return unavailable("the check reported no assertion")
    return derived(sum(line.ok for line in lines) / len(lines))


def _security_failures(row: Row) -> Metric:
    if not row.security.ran and not row.security.flags:
        return unavailable(row.security.reason or "the security check did not run")
    return derived(float(len(row.security.flags)))


def _has_reason(code: str) -> Callable[[Row], Metric]:
    return lambda row: derived(float(code in row.reasons))


def _trace_complete(row: Row) -> Metric:
    trace = row.artifacts.get("trajectory.json")
    if trace is None:
        return unavailable("the row names no trace")
    return derived(float(not trace.truncated and trace.withheld is None))


def _from(source: str, key: str) -> Callable[[Row], Metric]:
    def read(row: Row) -> Metric:
        values: dict[str, str] = getattr(row, source)
        if key in values:
            return derived(values[key])
        return unavailable(f"the row's {source} do not say")

    return read


_DERIVED: dict[str, Callable[[Row], Metric]] = {
    "success": _success,
    "check_pass_rate": _check_pass_rate,
    "assertion_pass_rate": _assertion_pass_rate,
    "security_failures": _security_failures,
    "tokens": lambda row: total_tokens(row.metrics),
    "agent": lambda row: derived(row.cell.agent),
    "agent_version": _from("versions", "agent"),
    "session_id": _from("environment", "sessionId"),
    "observed_model": _from("environment", "modelsReturned"),
    "run_status": lambda row: derived(
        row.outcome.value + (f" ({row.cause.value})" if row.cause else "")
    ),
    "timeout": lambda row: derived(float("wall" in row.caps_hit)),
    "infra_failure": lambda row: derived(float(row.cause is Cause.INFRA)),
    "agent_crash": _has_reason("AgentCrash"),
    "check_flaky": _has_reason("CheckFlaky"),
    "trace_complete": _trace_complete,
}
