"""Everything that is seen of an attempt, put together from pods, nodes and the store."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from pydantic import ValidationError

from agentbench.api.base import seconds
from agentbench.api.run import AttemptStatus
from agentbench.app.attempt_objects import CLAIM, FINAL, POD, SUMMARY
from agentbench.app.campaign import Campaign
from agentbench.app.ledger import RunFacts
from agentbench.core.failure import Fault
from agentbench.core.keys import artifact_key, row_key
from agentbench.core.reasons import Reason
from agentbench.core.seen import Grading, Left, Seen
from agentbench.core.summary import Summary
from agentbench.kube.faults import pod_faults, pod_state, service_died, waiting
from agentbench.kube.manifests.run_pod import SET_UP_LIMIT
from agentbench.kube.names import GRADER_ROLE, RUN_ROLE, grader_name, pod_name
from agentbench.kube.view import JobView, NodeView, PodView, instant, message_json
from agentbench.pod.verdict import CheckTermination
from agentbench.store.port import Store
from agentbench_analysis.rows.model import Check, Security
from agentbench_analysis.rows.words import CheckVerdict

LOST_GRACE = 60
"""Seconds beyond its wall cap after which an attempt that is out of reach is given up."""


def own(campaign: Campaign, entry: RunFacts, pods: Sequence[PodView]) -> list[PodView]:
    """The pods of a run that are ours: by the uid of their owner, and not by labels alone.

    Whoever may create pods may copy a label; such a pod is neither judged nor touched.
    """

    def ours(pod: PodView) -> bool:
        if pod.role == RUN_ROLE:
            return pod.owner_uid == entry.uid
        job = grader_name(campaign.uid, entry.run, pod.attempt, pod.round)
        return pod.role == GRADER_ROLE and pod.owner_name == job

    return [pod for pod in pods if ours(pod)]


def seen_of(
    campaign: Campaign,
    attempt: AttemptStatus,
    pods: Sequence[PodView],
    nodes: Mapping[str, NodeView],
    left: Left | None,
    now: datetime,
    *,
    tainted: bool = False,
    made: bool = False,
    hanging: float = 0,
    job: JobView | None = None,
) -> Seen:
    """What is seen of one attempt.

    `left` is what the store was found to hold, if asked; `tainted` tells that it had two pods,
    `made` that its pod is known to have been created; `hanging` is for how many seconds its pod
    has gone on without an agent; `job` is its grading Job as it was looked at last.
    """
    run_pods = [pod for pod in pods if pod.role == RUN_ROLE]
    run_pod = run_pods[0] if run_pods else None
    twins = tuple(sorted(pod.name for pod in run_pods)) if len(run_pods) > 1 else ()
    graders = [pod for pod in pods if pod.role == GRADER_ROLE]
    grading = grading_of(graders, campaign.spec.checks.repeats, job, nodes)
    noted = noted_faults(attempt)
    if run_pod is None:
        summary = left.summary if left else None
        return Seen(
            created=made or attempt.pod_uid is not None,
            noted=noted,
            left=left,
            grading=grading,
            summary=summary,
            snapshot=has_snapshot(summary),
            tainted=tainted,
        )
    node = nodes.get(run_pod.node)
    summary = _credible(summary_of(run_pod) or (left.summary if left else None), run_pod)
    return Seen(
        pod=pod_state(run_pod, node),
        created=True,
        waiting=waiting(run_pod, now),
        hanging=hanging,
        overdue=overdue(campaign, attempt, run_pod, now),
        faults=pod_faults(run_pod, node, campaign.spec.node_class.selector),
        noted=noted,
        summary=summary,
        left=left,
        grading=grading,
        snapshot=has_snapshot(summary),
        twins=twins,
        tainted=tainted or bool(twins),
    )


def noted_faults(attempt: AttemptStatus) -> tuple[Fault, ...]:
    """What was written down of an attempt before its pod was ended."""
    if attempt.fault is None:
        return ()
    return (Fault(reason=Reason(attempt.fault), detail=attempt.fault_detail or ""),)


def overdue(campaign: Campaign, attempt: AttemptStatus, pod: PodView, now: datetime) -> bool:
    """Whether an attempt's wall cap has passed, by the API server's clock alone."""
    wall = timedelta(seconds=seconds(campaign.spec.caps.wall) + LOST_GRACE)
    if attempt.started_at is None:
        return now > pod.created + wall + timedelta(seconds=SET_UP_LIMIT)
    return now > instant(attempt.started_at) + wall


def summary_of(pod: PodView) -> Summary | None:
    """The warden's summary, from its termination message."""
    said = message_json(pod.container("warden"))
    try:
        return Summary.model_validate(said) if said else None
    except ValidationError:
        return None


def _credible(summary: Summary | None, pod: PodView) -> Summary | None:
    """A summary without an interruption that the cluster knows nothing of.

    The warden learns of a deleted pod from a mark in the folder that it shares with the agent's
    container, and an agent could set that mark to be given a second attempt.
    """
    if summary is None or not summary.interrupted:
        return summary
    if pod.deleting or pod.disrupted or pod.reason:
        return summary
    note = "the agent's container set the mark of a deleted pod, and its pod was not deleted"
    return summary.model_copy(update={"interrupted": "", "notes": (*summary.notes, note)})


def has_snapshot(summary: Summary | None) -> bool:
    """Whether a final state was captured and stored."""
    final = summary.files.get(FINAL) if summary else None
    return final is not None and final.withheld is None and final.size > 0


def look(campaign: Campaign, store: Store, entry: RunFacts, attempt: int) -> Left:
    """What an attempt left in the store. Blocks; StoreError if the store does not answer."""
    prefix = artifact_key(campaign.name, entry.run, attempt, "")
    names = {key.removeprefix(prefix) for key in store.list(prefix)}

    def read(name: str) -> bytes | None:
        return store.get(prefix + name) if name in names else None

    summary, mark = read(SUMMARY), json.loads(read(POD) or b"{}")
    return Left(
        claimed=CLAIM in names or summary is not None,
        created="uid" in mark,
        pod_uid=mark.get("uid"),
        denied=mark.get("denied"),
        summary=Summary.model_validate_json(summary) if summary is not None else None,
        disowned=_disowned(mark, pod_name(campaign.uid, entry.run, attempt), entry.uid),
        recorded=store.read(row_key(campaign.name, entry.run, attempt)) is not None,
    )


def _disowned(mark: Mapping[str, str], pod: str, run_uid: str) -> bool:
    """Whether an attempt was started by this campaign, and for another run object than this.

    A mark with another pod's name is of a campaign object before this one, whose cluster was lost
    perhaps: nobody ended that attempt.
    """
    return mark.get("pod") == pod and mark.get("run", "") not in ("", run_uid)


def grading_of(
    pods: Sequence[PodView],
    repeats: int,
    job: JobView | None = None,
    nodes: Mapping[str, NodeView] | None = None,
) -> Grading | None:
    """The last round of grading, from the termination messages of its pods.

    An index whose pod went away has no verdict: that is known when its Job has ended, or when
    the pod is being deleted and its node is out of reach.
    """
    over = job if job is not None and job.ended else None
    rounds = [pod.round for pod in pods] + ([over.round] if over else [])
    if not rounds:
        return None
    last = max(rounds)
    found = {pod.index: pod for pod in pods if pod.round == last and pod.index is not None}
    ended = {
        index: pod
        for index, pod in found.items()
        if pod.phase in ("Succeeded", "Failed") or _out_of_reach(pod, nodes)
    }
    if len(ended) < repeats + 1 and (over is None or over.round != last):
        return Grading(round=last, done=False)
    return Grading(
        round=last,
        done=True,
        checks=tuple(_check(ended.get(index), index + 1) for index in range(repeats)),
        security=_security(ended.get(repeats)),
        records=dict(_records(ended, last, repeats)),
    )


def _out_of_reach(pod: PodView, nodes: Mapping[str, NodeView] | None) -> bool:
    node = nodes.get(pod.node) if nodes is not None else None
    return pod.deleting and node is not None and not node.ready


def _records(
    ended: Mapping[int, PodView], round_: int, repeats: int
) -> Iterator[tuple[str, tuple[str, int]]]:
    """What each execution stored, by the name of its artifact."""
    suffix = "" if round_ == 1 else f"-round{round_}"
    for index, pod in ended.items():
        said = _said(pod)
        if said is not None and said.report is not None:
            name = "security" if index == repeats else f"check-{index + 1}"
            yield f"{name}{suffix}.json", (said.report, said.size)


def _said(pod: PodView | None) -> CheckTermination | None:
    view = pod.container("check") if pod else None
    if view is None or not view.message:
        return None
    try:
        return CheckTermination.model_validate(json.loads(view.message))
    except ValueError:
        return None


def _check(pod: PodView | None, repeat: int) -> Check:
    said, fault = _said(pod), _fault(pod)
    if said is None or fault is not None:
        reason = fault or Reason.CHECK_ERROR
        return Check(repeat=repeat, verdict=CheckVerdict.ERROR, reason=reason.value)
    return said.check(repeat)


def _security(pod: PodView | None) -> Security:
    said, fault = _said(pod), _fault(pod)
    if said is None or fault is not None:
        return Security(ran=False, reason=(fault or Reason.CHECK_ERROR).value)
    return said.security()


def _fault(pod: PodView | None) -> Reason | None:
    """What the harness did to an execution: a verdict beside a dead service is none."""
    if pod is None:
        return None
    died = any(service_died(view) for view in pod.containers.values())
    return Reason.SERVICE_DIED if died else None
