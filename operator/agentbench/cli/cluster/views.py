"""Campaigns and runs as the command line reads them: leniently, for a cluster may be newer."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from agentbench.core.attempt import Recorded
from agentbench.core.decide import Tally
from agentbench_analysis.rows.words import Cause, Outcome

Raw = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionView:
    """One condition of an object."""

    type: str
    status: bool
    reason: str
    message: str
    since: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignView:
    """A campaign, as it says of itself."""

    name: str
    namespace: str
    uid: str
    created: str
    generation: int
    observed: int
    protocol: str
    digest: str
    draft: bool
    parallelism: int
    suspend: bool
    cancel: bool
    budget: str | None
    store: str
    phase: str
    tally: Tally
    projected: str | None
    verdict: Mapping[str, str]
    conditions: Mapping[str, ConditionView]

    @property
    def stalled(self) -> ConditionView | None:
        """What a person must mend, if there is anything."""
        found = self.conditions.get("Stalled")
        return found if found is not None and found.status else None

    @property
    def waits(self) -> str:
        """What is waited for, and passes by itself."""
        found = self.conditions.get("Reconciling")
        return found.message if found is not None and found.status else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptView:
    """One attempt of a run."""

    number: int
    phase: str
    pod: str
    node: str
    started: str
    ended: str
    cost: str | None
    tool_calls: int | None
    outcome: str
    cause: str
    reason: str
    row: str

    @property
    def seconds(self) -> float | None:
        """From the agent's start to its end, to the second."""
        if not self.started or not self.ended:
            return None
        return (instant(self.ended) - instant(self.started)).total_seconds()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """One run that was admitted."""

    name: str
    namespace: str
    uid: str
    campaign: str
    run: str
    task: str
    stack: str
    agent: str
    plugins: tuple[str, ...]
    order: int
    repeat: int
    phase: str
    attempts: tuple[AttemptView, ...]

    @property
    def last(self) -> AttemptView:
        """The attempt that is or was the last."""
        return self.attempts[-1]

    @property
    def recorded(self) -> list[Recorded]:
        """The facts of its rows."""
        return [
            Recorded(
                run=self.run,
                attempt=each.number,
                outcome=Outcome(each.outcome) if each.outcome else Outcome.ABORTED,
                cause=Cause(each.cause) if each.cause else None,
                cost=money(each.cost),
            )
            for each in self.attempts
            if each.row
        ]


def campaign_view(raw: Raw) -> CampaignView:
    """Read a campaign."""
    meta, spec, status = raw["metadata"], raw["spec"], raw.get("status") or {}
    protocol = spec.get("protocol") or {}
    spend = status.get("spend") or {}
    return CampaignView(
        name=meta["name"],
        namespace=meta["namespace"],
        uid=meta["uid"],
        created=meta.get("creationTimestamp", ""),
        generation=meta.get("generation", 0),
        observed=status.get("observedGeneration", 0),
        protocol=protocol.get("id", ""),
        digest=(protocol.get("freeze") or {}).get("digest", ""),
        draft=bool(protocol.get("draft")),
        parallelism=spec.get("parallelism", 1),
        suspend=bool(spec.get("suspend")),
        cancel=bool(spec.get("cancel")),
        budget=(spec.get("budget") or {}).get("totalUSD"),
        store=(spec.get("store") or {}).get("url", ""),
        phase=status.get("phase", "Pending"),
        tally=_tally(status.get("counts") or {}, spend),
        projected=spend.get("projectedUSD"),
        verdict=dict((status.get("verdict") or {}).get("hypotheses") or {}),
        conditions={each["type"]: _condition(each) for each in status.get("conditions") or ()},
    )


def run_view(raw: Raw) -> RunView:
    """Read a run."""
    meta, spec, status = raw["metadata"], raw["spec"], raw.get("status") or {}
    cell = spec["cell"]
    attempts = status.get("attempts") or [{"number": 1, "phase": status.get("phase", "Pending")}]
    return RunView(
        name=meta["name"],
        namespace=meta["namespace"],
        uid=meta["uid"],
        campaign=spec["campaignUid"],
        run=spec["run"],
        task=cell["task"],
        stack=cell["stack"],
        agent=cell["agent"],
        plugins=tuple(cell.get("plugins") or ()),
        order=spec["order"],
        repeat=spec["repeat"],
        phase=status.get("phase", "Pending"),
        attempts=tuple(_attempt(each) for each in attempts),
    )


def money(text: str | None) -> Decimal | None:
    """An amount in US dollars, None where it is not known."""
    try:
        return Decimal(text) if text is not None else None
    except InvalidOperation:
        return None


def instant(text: str) -> datetime:
    """A Kubernetes timestamp."""
    return datetime.fromisoformat(text)


def age(text: str, now: datetime) -> str:
    """How long ago a timestamp was, in its largest unit: `3d`, `5h`, `12m`, `9s`."""
    if not text:
        return ""
    seconds = max(0, int((now - instant(text)).total_seconds()))
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "m")):
        if seconds >= 2 * size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def utc_now() -> datetime:
    """This instant."""
    return datetime.now(tz=UTC)


def _attempt(raw: Raw) -> AttemptView:
    return AttemptView(
        number=raw["number"],
        phase=raw.get("phase", ""),
        pod=raw.get("pod", ""),
        node=raw.get("node", ""),
        started=raw.get("startedAt", ""),
        ended=raw.get("endedAt", ""),
        cost=raw.get("costUSD"),
        tool_calls=raw.get("toolCalls"),
        outcome=raw.get("outcome", ""),
        cause=raw.get("cause", ""),
        reason=raw.get("reason", ""),
        row=raw.get("rowKey", ""),
    )


def _condition(raw: Raw) -> ConditionView:
    return ConditionView(
        type=raw["type"],
        status=raw.get("status") == "True",
        reason=raw.get("reason", ""),
        message=raw.get("message", ""),
        since=raw.get("lastTransitionTime", ""),
    )


def _tally(counts: Raw, spend: Raw) -> Tally:
    return Tally(
        total=counts.get("total", 0),
        done=counts.get("done", 0),
        live=counts.get("live", 0),
        passed=counts.get("passed", 0),
        failed=counts.get("failed", 0),
        infra=counts.get("infra", 0),
        aborted=counts.get("aborted", 0),
        spent=money(spend.get("spentUSD")) or Decimal(0),
        reserved=money(spend.get("reservedUSD")) or Decimal(0),
    )
