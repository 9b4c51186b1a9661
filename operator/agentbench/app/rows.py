"""The row of an attempt on a cluster: from pods, node, summary and verdicts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from agentbench import __version__
from agentbench.app.campaign import Campaign
from agentbench.core.failure import Evidence, judge
from agentbench.core.keys import artifact_key
from agentbench.core.plan import PlannedRun
from agentbench.core.record import Attempted, aborted, build_row
from agentbench.core.seen import NOT_RUN
from agentbench.core.summary import Summary
from agentbench.kube.names import GRADER_ROLE, RUN_ROLE
from agentbench.kube.view import ContainerView, NodeView, PodView
from agentbench_analysis.rows.model import Artifact, Metric, Row
from agentbench_analysis.rows.words import Availability

RUN_UID = "runUid"
"""Which run object an attempt was made for: by this a row is known to be our own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What was found of an attempt when it is recorded; `now` stands in for unknown times.

    `pod_uid` names its pod where that is gone; `started` is False where it is known that no agent
    was ever started.
    """

    pods: Sequence[PodView]
    node: NodeView | None
    summary: Summary | None
    now: datetime
    records: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    why_aborted: str = ""
    pod_uid: str | None = None
    started: bool = True


def row_of(
    campaign: Campaign,
    run: PlannedRun,
    run_uid: str,
    attempt: int,
    found: Found,
    evidence: Evidence | None,
) -> Row:
    """Put the row together; without evidence it is the row of an aborted attempt."""
    spec = campaign.spec
    judgement = (
        aborted(found.why_aborted)
        if evidence is None
        else judge(evidence, spec.analysis.cause_order)
    )
    pod = next((pod for pod in found.pods if pod.role == RUN_ROLE), None)
    started, ended = _span_of(pod, found.now)
    attempted = Attempted(
        attempt=attempt,
        started_at=_text(started),
        ended_at=_text(ended),
        summary=found.summary,
        metrics=_times(pod, found.pods),
        checks=evidence.checks if evidence else (),
        security=evidence.security if evidence else NOT_RUN,
        artifacts=_artifacts(campaign.name, run.id, attempt, found),
        versions={"agent-bench": __version__, **_versions(campaign, run)},
        environment={RUN_UID: run_uid, **_environment(campaign, pod, found)},
        started=found.started,
    )
    return build_row(
        campaign=campaign.name,
        spec=spec,
        digest=campaign.digest,
        run=run,
        judgement=judgement,
        attempted=attempted,
    )


def _artifacts(campaign: str, run: str, attempt: int, found: Found) -> dict[str, Artifact]:
    files = found.summary.files if found.summary else {}
    graded = {
        name: Artifact(
            key=artifact_key(campaign, run, attempt, name), sha256=_sha(sha256), size=size
        )
        for name, (sha256, size) in found.records.items()
    }
    return graded | {
        name: Artifact(
            key=artifact_key(campaign, run, attempt, name),
            sha256=_sha(entry.sha256),
            size=entry.size,
            truncated=entry.truncated,
            withheld=entry.withheld,
        )
        for name, entry in files.items()
    }


def _versions(campaign: Campaign, run: PlannedRun) -> dict[str, str]:
    stack = next(stack for stack in campaign.spec.stacks if stack.id == run.cell.stack)
    agent = next(agent for agent in campaign.spec.agents if agent.id == run.cell.agent)
    found = {
        "stack": stack.version,
        "agent": agent.version,
        "model": agent.model,
        "agentImage": agent.images.get(stack.id, ""),
        "stackImage": stack.image or "",
        "bundle": campaign.spec.protocol.bundle.sha256 if campaign.spec.protocol.bundle else "",
    }
    return {name: value for name, value in found.items() if value}


def _environment(campaign: Campaign, pod: PodView | None, what: Found) -> dict[str, str]:
    node_class, node = campaign.spec.node_class, what.node
    found = {
        "place": "kubernetes",
        "isolation": node_class.runtime_class_name or "container",
        "nodeClass": ",".join(f"{k}={v}" for k, v in sorted(node_class.selector.items())),
    }
    if pod is None and what.pod_uid is not None:
        found["podUid"] = what.pod_uid
    if pod is not None:
        found |= {"podUid": pod.uid, "node": pod.node}
        for view in pod.containers.values():
            if view.image_id:
                found[f"image.{view.name}"] = view.image_id
    if node is not None:
        found |= {
            "kernel": node.kernel,
            "runtime": node.runtime,
            "kubelet": node.kubelet,
            "os": node.os_image,
        }
    return found


def _times(pod: PodView | None, pods: Sequence[PodView]) -> dict[str, Metric]:
    """Pending, capture and grading, from the times that kubelet wrote: whole seconds."""
    found: dict[str, Metric] = {}
    agent = pod.container("agent") if pod else None
    if pod is not None and agent is not None and agent.started_at is not None:
        found["pending_seconds"] = Metric(
            value=max(0.0, (agent.started_at - pod.created).total_seconds()),
            availability=Availability.DERIVED,
            reason="from the times of its pod, whole seconds",
        )
    capture = _span(
        pod.container("agent") if pod else None, pod.container("warden") if pod else None
    )
    if capture is not None:
        found["capture_seconds"] = capture
    graders = (each for each in pods if each.role == GRADER_ROLE)
    spans = [_span(each.container("fence"), each.container("check")) for each in graders]
    known = [span for span in spans if span is not None]
    if known:  # each by its own node's clock: two clocks make no duration
        found["grading_seconds"] = max(known, key=lambda span: float(span.value or 0))
    return found


def _span_of(pod: PodView | None, now: datetime) -> tuple[datetime, datetime]:
    """When an attempt began and ended: by its node's clock, or else by the API server's."""
    agent = pod.container("agent") if pod else None
    if agent is not None and agent.started_at is not None and agent.finished_at is not None:
        return agent.started_at, agent.finished_at
    began = pod.created if pod is not None else now
    return began, max(began, now)


def _span(first: ContainerView | None, last: ContainerView | None) -> Metric | None:
    """From the end of one container to the end of another."""
    if first is None or last is None or first.finished_at is None or last.finished_at is None:
        return None
    return Metric(
        value=max(0.0, (last.finished_at - first.finished_at).total_seconds()),
        availability=Availability.DERIVED,
        reason="from the times of its containers, whole seconds",
    )


def _sha(text: str) -> str:
    return text if text.startswith("sha256:") else f"sha256:{text}"


def _text(instant: datetime) -> str:
    return instant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
