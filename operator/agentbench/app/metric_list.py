"""Every metric of the operator as data: name, kind, labels, meaning. Documents are made of it."""

from dataclasses import dataclass
from enum import StrEnum

PREFIX = "agentbench"

CAMPAIGN = ("campaign_namespace", "campaign")
"""Not `namespace`: a scrape sets that one to the operator's own, and would rename ours."""

PAIR = (*CAMPAIGN, "stack", "agent")
QUICK = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
LONG = (1, 2, 5, 10, 30, 60, 120, 300, 600, 1200, 1800, 2700, 3600, 7200)


class Kind(StrEnum):
    """The types of Prometheus."""

    COUNTER = "counter"
    GAUGE = "gauge"
    SUMMARY = "summary"
    HISTOGRAM = "histogram"
    INFO = "info"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """One metric.

    `kept` says that its counts are built again after a restart, from the statuses of runs; other
    counters begin again at zero. `catalog` is the name in the metric catalog, where it has one.
    """

    name: str
    kind: Kind
    says: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()
    kept: bool = False
    catalog: str = ""


def _gauge(name: str, says: str, labels: tuple[str, ...] = CAMPAIGN) -> Spec:
    return Spec(name=f"{PREFIX}_{name}", kind=Kind.GAUGE, says=says, labels=labels)


def _counter(name: str, says: str, labels: tuple[str, ...], *, kept: bool = False) -> Spec:
    return Spec(
        name=f"{PREFIX}_{name}_total", kind=Kind.COUNTER, says=says, labels=labels, kept=kept
    )


def _mean(name: str, catalog: str, says: str, labels: tuple[str, ...] = PAIR) -> Spec:
    return Spec(
        name=f"{PREFIX}_attempt_{name}",
        kind=Kind.SUMMARY,
        says=f"{says}, over the recorded attempts of the sample that reported it.",
        labels=labels,
        kept=True,
        catalog=catalog,
    )


def _quick(name: str, says: str, labels: tuple[str, ...] = ()) -> Spec:
    return Spec(
        name=f"{PREFIX}_{name}_seconds",
        kind=Kind.HISTOGRAM,
        says=says,
        labels=labels,
        buckets=QUICK,
    )


PLANNED = _gauge("runs_planned", "Runs of the campaign.")
QUEUED = _gauge("runs_queued", "Runs that have not started, or wait for their second attempt.")
LIVE = _gauge("runs_live", "Runs with an attempt that has started and has no row yet.")
DONE = _gauge("runs_done", "Runs that are recorded for good.")
ENDED = _gauge(
    "runs_ended",
    "Runs that are recorded for good, by result: pass, fail, infra (twice), aborted.",
    (*CAMPAIGN, "result"),
)
STAGES = _gauge(
    "attempts_live",
    "Live attempts by stage: pending, running, lost, grading, recording.",
    (*CAMPAIGN, "stage"),
)
ROWS_PENDING = _gauge("rows_pending", "Attempts whose agent is gone and that have no row yet.")
PARALLELISM = _gauge("parallelism", "Live runs that the campaign allows.")
SPENT = _gauge(
    "spent_dollars", "US dollars of recorded attempts; one of unknown cost counts with its cap."
)
RESERVED = _gauge("reserved_dollars", "US dollars that live attempts may still spend.")
PROJECTED = _gauge(
    "projected_dollars", "US dollars of the whole campaign, if the rest costs what was recorded."
)
BUDGET = _gauge("budget_dollars", "US dollars that the campaign may spend.")
BUDGET_LEFT = _gauge(
    "budget_left_dollars", "US dollars of the budget that are neither spent nor reserved."
)
PHASE = _gauge("campaign_phase", "1 for the phase of the campaign, else 0.", (*CAMPAIGN, "phase"))
STALLED = _gauge("campaign_stalled", "1 while the campaign needs a person: condition Stalled.")
STORE = _gauge("campaign_store_available", "1 while the campaign's store takes rows, else 0.")
TICKED = _gauge(
    "campaign_last_tick_timestamp_seconds", "Unix time of the campaign's last finished tick."
)

ATTEMPTS = _counter(
    "attempts",
    "Recorded attempts by stack, agent, phase (sample or calibration), outcome and cause.",
    (*PAIR, "phase", "outcome", "cause"),
    kept=True,
)
REASONS = _counter(
    "attempt_reasons",
    "Recorded attempts that did not pass, by their first reason code.",
    (*CAMPAIGN, "reason"),
    kept=True,
)
RERUNS = _counter(
    "infra_reruns", "Recorded second attempts: reruns after an infra failure.", PAIR, kept=True
)
CAPS = _counter(
    "caps_hit",
    "Recorded attempts that reached a cap: wall, cost, tool-calls, interventions.",
    (*PAIR, "cap"),
    kept=True,
)
FLAGS = _counter(
    "attempt_flags",
    "Recorded attempts of the sample that reported a flag, by flag and value (yes, no).",
    (*PAIR, "flag", "value"),
    kept=True,
)
FLAGGED = ("timeout", "infra_failure", "agent_crash", "check_flaky", "trace_complete")
"""Rates of the catalog's reliability group: yes / (yes + no)."""

STAGE_SECONDS = Spec(
    name=f"{PREFIX}_attempt_stage_seconds",
    kind=Kind.HISTOGRAM,
    says="Time of recorded attempts by stage: pending (setup inside), setup, running, capture, "
    "grading.",
    labels=(*CAMPAIGN, "stage"),
    buckets=LONG,
    kept=True,
)
STAGE_MEASURES = {
    "pending": "pending_seconds",
    "setup": "setup_seconds",
    "running": "agent_seconds",
    "capture": "capture_seconds",
    "grading": "grading_seconds",
}

TOKENS = _mean("tokens", "", "Tokens by kind", (*PAIR, "kind"))
TOKEN_KINDS = (
    "input_uncached",
    "cache_read",
    "cache_write_5m",
    "cache_write_1h",
    "output",
    "reasoning",
)
MEANS = (
    _mean("agent_seconds", "agent_seconds", "From the first prompt to the agent's stop"),
    _mean("setup_seconds", "setup_seconds", "Set-up before the first prompt"),
    _mean("capture_seconds", "capture_seconds", "Packing of the final state"),
    _mean("grading_seconds", "grading_seconds", "Grading of the final state"),
    _mean("cost_dollars", "cost_usd", "US dollars of model calls"),
    _mean("cost_overshoot_dollars", "cost_overshoot_usd", "US dollars above the cost cap"),
    _mean("model_calls", "model_calls", "Calls to the model"),
    _mean("model_call_failures", "model_call_failures", "Model calls that the provider failed"),
    _mean("tool_calls", "tool_calls", "Tools that the agent ran"),
    _mean("repair_rounds", "repair_rounds", "Reruns of a failing command after a failure"),
)

BUILD = Spec(
    name=f"{PREFIX}_build_info",
    kind=Kind.INFO,
    says="Version of the operator; always 1.",
    labels=("version",),
)
RECONCILE = _quick("reconcile", "Time of one tick of one campaign.")
ERRORS = _counter("reconcile_errors", "Ticks that failed, by reason.", ("reason",))
ROW_WRITE = _quick("row_write", "Time to store a row and to say so in its run's status.")
ROW_ERRORS = _counter("row_write_errors", "Rows that could not be stored, by reason.", ("reason",))
EVENT = _gauge(
    "watch_last_event_timestamp_seconds",
    "Unix time of the last event of a watch; absent before the first.",
    ("resource",),
)
REQUESTS = _counter(
    "api_requests",
    "Requests to the API server, by verb and class of answer (none: no answer). "
    "Not those of kopf itself: its watches, and one status patch per changed campaign.",
    ("verb", "code"),
)
REQUEST_SECONDS = _quick("api_request", "Time of requests to the API server.", ("verb",))

OF_CAMPAIGNS = (
    PLANNED,
    QUEUED,
    LIVE,
    DONE,
    ENDED,
    STAGES,
    ROWS_PENDING,
    PARALLELISM,
    SPENT,
    RESERVED,
    PROJECTED,
    BUDGET,
    BUDGET_LEFT,
    PHASE,
    STALLED,
    STORE,
    TICKED,
)
OF_ATTEMPTS = (ATTEMPTS, REASONS, RERUNS, CAPS, FLAGS, STAGE_SECONDS, *MEANS, TOKENS)
OF_OPERATOR = (
    BUILD,
    RECONCILE,
    ERRORS,
    ROW_WRITE,
    ROW_ERRORS,
    EVENT,
    REQUESTS,
    REQUEST_SECONDS,
)
EVERY = (*OF_CAMPAIGNS, *OF_ATTEMPTS, *OF_OPERATOR)
