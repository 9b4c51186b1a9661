"""The row: built once from what was decided and seen, encoded to the same bytes every time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from agentbench.api.base import seconds
from agentbench.api.campaign import CampaignSpec
from agentbench.core.attempt import Recorded
from agentbench.core.digest import canonical
from agentbench.core.failure import Judgement
from agentbench.core.plan import PlannedRun
from agentbench.core.summary import Summary
from agentbench_analysis.codec import decode, encode
from agentbench_analysis.parsing import load_json
from agentbench_analysis.rows.metrics import COUNTS, MONEY, ROW_METRICS, TOKENS
from agentbench_analysis.rows.model import (
    ROW_SCHEMA,
    Artifact,
    Caps,
    Check,
    Metric,
    Row,
    Security,
)
from agentbench_analysis.rows.words import Availability, Outcome

NOT_GRADED = Security(ran=False, reason="the final state was not graded")


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempted:
    """What one attempt left behind, apart from its judgement.

    Times are RFC 3339, UTC. `metrics` are the place's own measures (set-up, capture, grading);
    the warden's come from `summary`.
    """

    attempt: int
    started_at: str
    ended_at: str
    summary: Summary | None = None
    metrics: Mapping[str, Metric] = field(default_factory=dict)
    checks: Sequence[Check] = ()
    security: Security = NOT_GRADED
    artifacts: Mapping[str, Artifact] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()
    started: bool = True  # False where it is known that no agent was ever started


def build_row(
    *,
    campaign: str,
    spec: CampaignSpec,
    digest: str,
    run: PlannedRun,
    judgement: Judgement,
    attempted: Attempted,
) -> Row:
    """Put together the row of an attempt."""
    summary = attempted.summary
    return Row(
        schema=ROW_SCHEMA,
        campaign=campaign,
        protocol=spec.protocol.id,
        digest=digest,
        draft=spec.protocol.draft,
        phase=run.phase,
        run=run.id,
        attempt=attempted.attempt,
        order=run.order,
        repeat=run.repeat,
        cell=run.cell,
        outcome=judgement.outcome,
        cause=judgement.cause,
        reasons=tuple(str(reason) for reason in judgement.reasons),
        evidence=judgement.evidence,
        started_at=attempted.started_at,
        ended_at=attempted.ended_at,
        caps=row_caps(spec),
        caps_hit=tuple(str(cap) for cap in summary.caps_hit) if summary else (),
        metrics=_metrics(attempted),
        checks=tuple(attempted.checks),
        security=attempted.security,
        artifacts=dict(attempted.artifacts),
        versions=dict(attempted.versions),
        environment=_environment(attempted),
        denied_egress=summary.denied_egress if summary else (),
        notes=(*attempted.notes, *(summary.notes if summary else ())),
    )


def aborted(reason: str) -> Judgement:
    """The judgement of an attempt that a person ended before it could be judged."""
    return Judgement(outcome=Outcome.ABORTED, cause=None, reasons=(), evidence=(reason,))


def row_caps(spec: CampaignSpec) -> Caps:
    """The limits of a run, as a row states them."""
    caps = spec.caps
    return Caps(
        wall_seconds=seconds(caps.wall),
        cost_usd=caps.cost_usd,
        tool_calls=caps.tool_calls,
        interventions=caps.interventions,
    )


def encode_row(row: Row) -> bytes:
    """The row's bytes: canonical JSON, so the same row is the same object in every store."""
    return canonical(encode(row))


def decode_row(content: bytes, source: str) -> Row:
    """Read a row; `source` names it in an error.

    Raises:
        AnalysisError: the bytes are no row of this schema; it names the field.
    """
    return decode(Row, load_json(source, content), source)


def facts(row: Row) -> Recorded:
    """The part of a row that decisions need."""
    cost = row.metrics.get("cost_usd")
    known = cost is not None and cost.value is not None
    return Recorded(
        run=row.run,
        attempt=row.attempt,
        outcome=row.outcome,
        cause=row.cause,
        cost=Decimal(str(cost.value)) if cost is not None and known else None,
    )


def _metrics(attempted: Attempted) -> dict[str, Metric]:
    found = {
        name: Metric(value=m.value, availability=m.availability, reason=m.reason)
        for name, m in (attempted.summary.metrics if attempted.summary else {}).items()
    }
    found |= attempted.metrics
    if not attempted.started:
        found = nothing_spent() | found
    why = "not reached" if attempted.summary else "the warden left no summary"
    missing = Metric(value=None, availability=Availability.UNAVAILABLE, reason=why)
    return {name: found.get(name, missing) for name in (*ROW_METRICS, *found)}


def nothing_spent() -> dict[str, Metric]:
    """The measures of an attempt in which no agent was started: nothing, and known to be."""
    why = "no agent was started"

    def zero(value: int | str) -> Metric:
        return Metric(value=value, availability=Availability.MEASURED, reason=why)

    return dict.fromkeys(MONEY, zero("0")) | dict.fromkeys((*TOKENS, *COUNTS), zero(0))


def _environment(attempted: Attempted) -> dict[str, str]:
    models = attempted.summary.models if attempted.summary else ()
    seen = {"modelsReturned": ",".join(models)} if models else {}
    return {**attempted.environment, **seen}
