"""The status of a campaign: computed whole, and written once, if it changed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from agentbench.api.campaign import CampaignStatus, Counts, Spend, VerdictSummary
from agentbench.api.conditions import Condition
from agentbench.core.decide import CampaignPhase, Decision, Tally


@dataclass(frozen=True, slots=True)
class Say:
    """One condition, before its time is known."""

    type: str
    status: bool
    reason: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class AnalysisSays:
    """What a status says of the analysis: whether the newest result is out, and its verdict."""

    published: Say
    verdict: VerdictSummary | None = None


def condition_list(
    says: Sequence[Say], old: Sequence[Mapping[str, Any]], now: datetime, generation: int
) -> tuple[Condition, ...]:
    """Conditions with the time of their last flip; one whose status stays keeps its time."""
    before = {entry.get("type"): entry for entry in old}
    text = now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    found = []
    for say in says:
        status = "True" if say.status else "False"
        prior = before.get(say.type)
        same = prior is not None and prior.get("status") == status
        found.append(
            Condition(
                type=say.type,
                status=status,
                reason=say.reason,
                message=say.message[:2000],
                last_transition_time=prior["lastTransitionTime"] if prior and same else text,
                observed_generation=generation,
            )
        )
    return tuple(found)


def refused(
    reason: str, message: str, old: Mapping[str, Any], generation: int, now: datetime
) -> dict[str, Any]:
    """The status of a campaign that cannot run as it is; its counts stay as they were."""
    says = (
        Say("Ready", False, reason, message),
        Say("Reconciling", False, "WaitingForAPerson"),
        Say("Stalled", True, reason, message),
    )
    return _kept("Stalled", says, old, generation, now)


def waiting(
    reason: str, message: str, old: Mapping[str, Any], generation: int, now: datetime
) -> dict[str, Any]:
    """The status of a campaign that cannot go on now, and will by itself."""
    says = (
        Say("Ready", False, reason, message),
        Say("Reconciling", True, reason, message),
        Say("Stalled", False, "Fine"),
    )
    phase = str(old.get("phase") or "Pending")
    return _kept("Pending" if phase == "Stalled" else phase, says, old, generation, now)


def _kept(
    phase: str, says: Sequence[Say], old: Mapping[str, Any], generation: int, now: datetime
) -> dict[str, Any]:
    kept = {name: old[name] for name in ("counts", "spend", "verdict", "digest") if old.get(name)}
    status = CampaignStatus(
        observed_generation=generation,
        phase=phase,
        conditions=condition_list(says, old.get("conditions") or (), now, generation),
    )
    return {**_plain(status), **kept}


@dataclass(frozen=True, slots=True, kw_only=True)
class Hindrance:
    """What a status says beside the decision: what hinders, and what is known of the money.

    `troubles` need a person: reason and message each. `waits` pass by themselves. `calibration`
    is runs of that batch that are done, and how many there are.
    """

    digest: str
    frozen: bool
    troubles: Sequence[tuple[str, str]]
    waits: Sequence[tuple[str, str]]
    calibration: tuple[int, int]
    budget: Decimal | None
    projected: Decimal | None


def running(
    decision: Decision,
    more: Hindrance,
    analysis: AnalysisSays,
    old: Mapping[str, Any],
    generation: int,
    now: datetime,
) -> dict[str, Any]:
    """The status of a campaign that goes its way."""
    phase, tally = decision.phase, decision.tally
    projected = more.projected
    says = [*_says(decision, more), analysis.published]
    status = CampaignStatus(
        observed_generation=generation,
        phase=str(phase),
        digest=more.digest,
        conditions=condition_list(says, old.get("conditions") or (), now, generation),
        counts=_counts(tally),
        spend=Spend(
            spent_usd=_text(tally.spent),
            reserved_usd=_text(tally.reserved),
            projected_usd=_text(projected) if projected is not None else None,
        ),
        verdict=analysis.verdict,
    )
    kept = {"verdict": old["verdict"]} if old.get("verdict") and not analysis.verdict else {}
    return {**_plain(status), **kept}


def _says(decision: Decision, more: Hindrance) -> list[Say]:
    """The conditions, in the order of the design: those that tools read come first."""
    phase, tally = decision.phase, decision.tally
    ended = phase.ended
    broke = phase is CampaignPhase.OUT_OF_BUDGET
    done = f"{tally.done} of {tally.total} runs are recorded"
    troubles = [
        *more.troubles,
        *([("OutOfBudget", _broke(tally, more))] if broke else []),
    ]
    budget, projected = more.budget, more.projected
    within = budget is None or projected is None or projected <= budget
    first_wait = more.waits[0][0] if more.waits else str(phase)
    calibrated, batch = more.calibration
    return [
        Say("Ready", ended and not troubles, str(phase), done),
        # Not both: a tool that waits would wait for ever where a person is needed.
        Say(
            "Reconciling",
            not ended and not troubles,
            str(phase) if ended else first_wait,
            "; ".join(message for _, message in more.waits),
        ),
        Say(
            "Stalled",
            bool(troubles),
            troubles[0][0] if troubles else "Fine",
            "; ".join(message for _, message in troubles),
        ),
        Say("Frozen", more.frozen, "Frozen" if more.frozen else "Draft", more.digest),
        Say(
            "Calibrated",
            calibrated == batch,
            ("Calibrated" if calibrated == batch else "Calibrating") if batch else "NotPlanned",
            f"{calibrated} of {batch} calibration runs are recorded" if batch else "",
        ),
        Say(
            "WithinBudget",
            within and not broke,
            "Projected" if projected is not None else "NotKnownYet",
            _money_message(tally, budget, projected),
        ),
        Say("Suspended", phase is CampaignPhase.SUSPENDED, str(phase)),
        Say("Complete", phase is CampaignPhase.COMPLETE, str(phase)),
    ]


def _broke(tally: Tally, more: Hindrance) -> str:
    return (
        f"{tally.total - tally.done} runs are left, and the budget of {more.budget} US dollars "
        f"has no room for the cap of one more ({_text(tally.spent)} are spent): spec.budget is "
        "frozen, so a larger one takes another campaign"
    )


def says_more(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether a status tells more than that counts and amounts went on."""

    def told(status: Mapping[str, Any]) -> tuple[Any, ...]:
        conditions = [
            (each["type"], each["status"], each["reason"])
            for each in status.get("conditions") or ()
        ]
        kept = (status.get(name) for name in ("phase", "digest", "observedGeneration", "verdict"))
        return (*kept, conditions)

    return told(old) != told(new)


def projection(tally: Tally) -> Decimal | None:
    """What the whole campaign will cost if the rest costs what the recorded runs did."""
    if not tally.done:
        return None
    return (tally.spent / tally.done * tally.total).quantize(Decimal("0.01"))


def _money_message(tally: Tally, budget: Decimal | None, projected: Decimal | None) -> str:
    limit = f" of {budget}" if budget is not None else ""
    more = f", projected {projected}" if projected is not None else ""
    return f"{_text(tally.spent)}{limit} US dollars spent{more}"


def _counts(tally: Tally) -> Counts:
    return Counts(
        total=tally.total,
        done=tally.done,
        live=tally.live,
        passed=tally.passed,
        failed=tally.failed,
        infra=tally.infra,
        aborted=tally.aborted,
    )


def _text(amount: Decimal) -> str:
    return format(amount, "f")


def _plain(status: CampaignStatus) -> dict[str, Any]:
    return status.model_dump(mode="json", by_alias=True, exclude_none=True)
