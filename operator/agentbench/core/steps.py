"""The life of one attempt on a cluster: from what is seen to the one thing to do next.

Every step is idempotent and is chosen from the world as it is, so a controller that was killed
at any instant takes the same step again, or finds it taken.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain

from agentbench.core.failure import Evidence, Fault
from agentbench.core.reasons import Reason
from agentbench.core.seen import NOT_RUN, PodState, Seen
from agentbench.core.summary import Summary
from agentbench_analysis.rows.words import Cause

GRADING_ROUNDS = 2
"""A grading that could not judge is done once more, on the same snapshot."""

HANGING = 30
"""Seconds from an agent's end on after which the store is asked whether its pod only hangs."""


class Step(StrEnum):
    """What to do next for an attempt."""

    CREATE = "Create"  # the run pod
    WAIT = "Wait"
    LOOK = "Look"  # into the store, for what a pod that is gone left there
    END = "End"  # its pod: nothing but an infra failure can come of it; write down why first
    GRADE = "Grade"
    RECORD = "Record"
    STALL = "Stall"  # two pods are there for one attempt: a person must look


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long an attempt may wait before it is given up, in seconds."""

    image_pull: float = 900
    unschedulable: float = 1800
    quota: float = 3600
    other: float = 1800


@dataclass(frozen=True, slots=True, kw_only=True)
class Next:
    """The next step; `evidence` goes with RECORD, `round` with GRADE, `fault` with END.

    With `at_once` nothing of the pod matters any more, and it gets no time to end.
    """

    step: Step
    evidence: Evidence | None = None
    round: int = 1
    fault: Fault | None = None
    at_once: bool = False
    why: str = ""


def next_step(seen: Seen, *, repeats: int, patience: Patience) -> Next:
    """Decide what to do next for an attempt.

    An attempt is recorded only when its pod is gone or has ended, since a second one may start
    from then on; or when its node is out of reach and its wall cap has passed on our clock.
    """
    if seen.twins:
        return Next(step=Step.STALL, why=" and ".join(seen.twins))
    if seen.tainted:
        fault = Fault(reason=Reason.MULTIPLE_PODS, detail="two pods were there for this attempt")
        seen = replace(seen, noted=(fault, *seen.noted))
    if seen.pod is None:
        return _without_pod(seen, repeats)
    if seen.pod is PodState.ENDED:
        return _ended(seen, repeats)
    if seen.pod is PodState.LOST:
        return _lost(seen, repeats)
    doomed = _doom(seen, patience)
    if doomed is not None:
        return Next(step=Step.END, fault=doomed, why=f"ending: {doomed.reason}")
    if seen.hanging > HANGING:
        return _hanging(seen)
    if seen.pod is PodState.WAITING:
        return Next(step=Step.WAIT, why=seen.waiting.detail if seen.waiting else "starting")
    return Next(step=Step.WAIT, why=seen.pod)


def _hanging(seen: Seen) -> Next:
    """The agent is gone, and its pod goes on: the final state is packed, or a service hangs.

    The warden stores its summary last of all, and only when the agent's container is gone. What
    a pod still does then is no part of the run; kubelet says no more of it than that the agent
    ended, and gives a service that ignores its signal all the time that the warden could need.
    """
    if seen.left is None:
        return Next(step=Step.LOOK)
    if seen.left.summary is None:
        return Next(step=Step.WAIT, why="its final state is packed and stored")
    why = "ending: a service ignores that all else is over"
    return Next(step=Step.END, fault=next(iter(seen.faults), None), at_once=True, why=why)


def _doom(seen: Seen, patience: Patience) -> Fault | None:
    """Why nothing but an infra failure can come of a pod that has not ended, or None."""
    known = chain(seen.noted, seen.faults)
    fault = next((fault for fault in known if fault.reason.cause is Cause.INFRA), None)
    waiting = seen.waiting
    if fault is not None or seen.pod is not PodState.WAITING or waiting is None:
        return fault
    limits = {
        Reason.IMAGE_PULL: patience.image_pull,
        Reason.UNSCHEDULABLE: patience.unschedulable,
        Reason.QUOTA_DENIED: patience.quota,
    }
    if waiting.seconds <= limits.get(waiting.reason, patience.other):
        return None
    detail = f"{waiting.detail} for {waiting.seconds:.0f} s".strip()
    return Fault(reason=waiting.reason, detail=detail)


def _without_pod(seen: Seen, repeats: int) -> Next:
    """A pod that is not there: not yet, or no more."""
    left = seen.left
    if left is None:
        return Next(step=Step.LOOK)
    if left.recorded:
        return _record(seen, left.summary, repeats)
    if left.summary is not None or seen.summary is not None:
        return _judged(seen, left.summary or seen.summary, repeats)
    if left.denied is not None:
        denied = Fault(reason=Reason.QUOTA_DENIED, detail=left.denied)
        return _record(seen, None, repeats, (denied,))
    if left.claimed or left.created or seen.created or seen.noted:
        gone = Fault(reason=Reason.POD_DELETED, detail="it left no summary")
        return _record(seen, None, repeats, () if seen.noted else (gone,))
    return Next(step=Step.CREATE)


def _lost(seen: Seen, repeats: int) -> Next:
    """Its machine is out of reach: it may still run, and is waited for until its cap is over."""
    infra = [fault for fault in seen.faults if fault.reason.cause is Cause.INFRA]
    if infra and not seen.noted:
        return Next(step=Step.END, fault=infra[0], why=f"ending: {infra[0].reason}")
    if not seen.overdue:
        return Next(step=Step.WAIT, why="its node is out of reach")
    if seen.left is None:
        return Next(step=Step.LOOK)
    lost = Fault(reason=Reason.NODE_LOST, detail="out of reach until its wall cap had passed")
    if seen.left.summary is not None:
        return _judged(seen, seen.left.summary, repeats)
    return _record(seen, None, repeats, (lost,))


def _ended(seen: Seen, repeats: int) -> Next:
    summary = seen.summary or (seen.left.summary if seen.left else None)
    if summary is None and seen.left is None:
        return Next(step=Step.LOOK)
    return _judged(seen, summary, repeats)


def _judged(seen: Seen, summary: Summary | None, repeats: int) -> Next:
    infra = any(fault.reason.cause is Cause.INFRA for fault in _place(seen, summary))
    if summary is None or infra or not seen.snapshot:
        return _record(seen, summary, repeats)
    grading = seen.grading
    if grading is None:
        return Next(step=Step.GRADE, round=1)
    if not grading.done:
        return Next(step=Step.WAIT, why="grading")
    if not grading.judged and grading.round < GRADING_ROUNDS:
        return Next(step=Step.GRADE, round=grading.round + 1)
    return _record(seen, summary, repeats)


def _place(seen: Seen, summary: Summary | None) -> tuple[Fault, ...]:
    """The place's faults; losing a pod that had stored its whole record is none."""
    whole = summary is not None and summary.whole and seen.snapshot
    harmless = (Reason.POD_DELETED, Reason.NODE_LOST) if whole else ()
    return tuple(f for f in (*seen.noted, *seen.faults) if f.reason not in harmless)


def _record(seen: Seen, summary: Summary | None, repeats: int, more: Sequence[Fault] = ()) -> Next:
    grading = seen.grading
    evidence = Evidence(
        place=(*_place(seen, summary), *more),
        summary=summary,
        checks=grading.checks if grading else (),
        repeats=repeats,
        security=grading.security if grading else NOT_RUN,
    )
    return Next(step=Step.RECORD, evidence=evidence)
