"""The metric catalog as data: every metric, its group, unit and source.

Names are those of a row's `metrics`, or derived from a row. A metric that nothing here can
measure is listed all the same, with the reason, and is never zero.
"""

from dataclasses import dataclass
from enum import StrEnum

from agentbench_analysis.rows.words import Availability


class Group(StrEnum):
    """What a metric is about."""

    QUALITY = "quality"
    EFFICIENCY = "efficiency"
    AGENT_RUNTIME = "agent_runtime"
    KNOWLEDGE = "knowledge"
    RELIABILITY = "reliability"

    @property
    def decides(self) -> bool:
        """Whether the group decides the outcome; the others are only reported."""
        return self is Group.QUALITY


class Kind(StrEnum):
    """How values of several runs become one."""

    RATE = "rate"  # a share of yes among the runs that reported
    MEAN = "mean"
    WORDS = "words"  # the different values, and how often each occurs


@dataclass(frozen=True, slots=True, kw_only=True)
class Descriptor:
    """One metric: what it says, in which unit, and where it comes from.

    `availability` is the best that it can be; an unavailable one says why in `reason`.
    `better` is `higher`, `lower`, or None where neither is.
    """

    name: str
    group: Group
    kind: Kind
    unit: str
    title: str
    source: str
    availability: Availability = Availability.MEASURED
    better: str | None = None
    reason: str | None = None


_PROXY = "warden: model proxy"
_CLOCK = "warden: monotonic clock"
_NO_COUNTER = "no plugin exports a counter, and no readback of a knowledge base exists"
_DERIVED, _NONE = Availability.DERIVED, Availability.UNAVAILABLE


def _quality(name: str, kind: Kind, unit: str, title: str, source: str) -> Descriptor:
    better = "lower" if name == "security_failures" else "higher"
    return Descriptor(
        name=name,
        group=Group.QUALITY,
        kind=kind,
        unit=unit,
        title=title,
        source=source,
        availability=_DERIVED,
        better=better,
    )


def _missing(group: Group, name: str, unit: str, title: str, reason: str) -> Descriptor:
    return Descriptor(
        name=name,
        group=group,
        kind=Kind.MEAN,
        unit=unit,
        title=title,
        source="none",
        availability=_NONE,
        reason=reason,
    )


def _mean(
    group: Group, name: str, unit: str, title: str, source: str, better: str | None = "lower"
) -> Descriptor:
    return Descriptor(
        name=name,
        group=group,
        kind=Kind.MEAN,
        unit=unit,
        title=title,
        source=source,
        better=better,
    )


def _derived(
    group: Group,
    name: str,
    kind: Kind,
    unit: str,
    title: str,
    source: str,
    better: str | None = None,
) -> Descriptor:
    return Descriptor(
        name=name,
        group=group,
        kind=kind,
        unit=unit,
        title=title,
        source=source,
        availability=_DERIVED,
        better=better,
    )


_E, _A, _K, _R = Group.EFFICIENCY, Group.AGENT_RUNTIME, Group.KNOWLEDGE, Group.RELIABILITY

CATALOG: tuple[Descriptor, ...] = (
    _quality("success", Kind.RATE, "share", "Runs that passed", "row: outcome"),
    _quality(
        "check_pass_rate",
        Kind.MEAN,
        "share",
        "Executions of the hidden check that passed",
        "row: checks",
    ),
    _quality(
        "assertion_pass_rate",
        Kind.MEAN,
        "share",
        "Assertions of the hidden check that passed",
        "row: checks",
    ),
    _quality(
        "security_failures",
        Kind.MEAN,
        "count",
        "Critical security flags per run",
        "row: security",
    ),
    _missing(
        Group.QUALITY,
        "regressions",
        "count",
        "Behaviour that worked before and no longer does",
        "checks judge the final state only; they do not run on the start state",
    ),
    _missing(
        Group.QUALITY,
        "evaluator_score",
        "score",
        "Score of a judge beside the checks",
        "no judge takes part; the pass check alone decides",
    ),
    _mean(_E, "agent_seconds", "seconds", "From the first prompt to the agent's stop", _CLOCK),
    _mean(_E, "setup_seconds", "seconds", "Set-up before the first prompt", _CLOCK),
    _mean(_E, "grading_seconds", "seconds", "Grading of the final state", "engine", None),
    _mean(_E, "capture_seconds", "seconds", "Packing of the final state", "engine", None),
    _mean(_E, "cost_usd", "USD", "Tokens at the pinned price list", _PROXY),
    _mean(_E, "cost_overshoot_usd", "USD", "Spend above the cost cap", _PROXY),
    _mean(_E, "input_uncached", "tokens", "Input tokens read at the full price", _PROXY),
    _mean(_E, "cache_read", "tokens", "Input tokens read from the cache", _PROXY),
    _mean(_E, "cache_write_5m", "tokens", "Input tokens written to the 5-minute cache", _PROXY),
    _mean(_E, "cache_write_1h", "tokens", "Input tokens written to the 1-hour cache", _PROXY),
    _mean(_E, "output", "tokens", "Output tokens, reasoning inside", _PROXY),
    _mean(_E, "reasoning", "tokens", "Reasoning tokens, part of the output", _PROXY, None),
    _derived(
        _E,
        "tokens",
        Kind.MEAN,
        "tokens",
        "All input and output tokens",
        "sum of the token counts, where each was reported",
        "lower",
    ),
    _mean(_E, "model_calls", "count", "Calls to the model", _PROXY),
    _mean(_E, "tool_calls", "count", "Tools that the agent ran", "pre-tool hook, or the proxy"),
    _mean(
        _E,
        "repair_rounds",
        "count",
        "Reruns of a failing test or command after a failure",
        "warden: trace",
    ),
    _derived(_A, "agent", Kind.WORDS, "", "Agent of the protocol", "row: cell"),
    _derived(_A, "agent_version", Kind.WORDS, "", "Version of the agent", "row: versions"),
    _derived(_A, "session_id", Kind.WORDS, "", "The agent's own session id", "row: environment"),
    _derived(_A, "run_status", Kind.WORDS, "", "Outcome and cause", "row: outcome"),
    _derived(
        _A,
        "observed_model",
        Kind.WORDS,
        "",
        "Model name that the API returned",
        "row: environment",
    ),
    _mean(_A, "interventions", "count", "Scripted replies to blocking questions", "warden"),
    _mean(_A, "tool_failures", "count", "Tool calls that failed", "warden: trace"),
    _missing(_K, "knowledge_writes", "count", "Entries written by plugins", _NO_COUNTER),
    _missing(_K, "knowledge_retrievals", "count", "Entries read by plugins", _NO_COUNTER),
    _missing(_K, "knowledge_hit_rate", "share", "Retrievals that found an entry", _NO_COUNTER),
    _missing(_K, "knowledge_write_ms", "milliseconds", "Time of a write", _NO_COUNTER),
    _missing(_K, "knowledge_retrieval_ms", "milliseconds", "Time of a retrieval", _NO_COUNTER),
    _missing(_K, "knowledge_size", "count", "Entries at the end of a run", _NO_COUNTER),
    _derived(_R, "timeout", Kind.RATE, "share", "Runs ended by the wall cap", "row: caps", "lower"),
    _derived(
        _R,
        "infra_failure",
        Kind.RATE,
        "share",
        "Attempts lost to infrastructure",
        "row: cause",
        "lower",
    ),
    _derived(
        _R,
        "agent_crash",
        Kind.RATE,
        "share",
        "Attempts whose agent ended by a signal or a broken stream",
        "row: reasons",
        "lower",
    ),
    _derived(
        _R,
        "check_flaky",
        Kind.RATE,
        "share",
        "Runs whose check disagreed with itself",
        "row: reasons",
        "lower",
    ),
    _derived(
        _R,
        "trace_complete",
        Kind.RATE,
        "share",
        "Attempts whose trace is whole and published",
        "row: artifacts",
        "higher",
    ),
    _mean(_R, "model_call_failures", "count", "Model calls that the provider failed", _PROXY),
)
"""Every metric, by group."""

BY_NAME = {each.name: each for each in CATALOG}


def in_group(group: Group | None) -> tuple[Descriptor, ...]:
    """The metrics of one group, or all of them."""
    return tuple(each for each in CATALOG if group is None or each.group is group)
