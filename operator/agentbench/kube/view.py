"""Small views over what the API server says; past this door nothing is a raw dict."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from agentbench.kube.names import (
    ATTEMPT_ANNOTATION,
    CAMPAIGN_LABEL,
    ROLE_LABEL,
    ROUND_ANNOTATION,
    RUN_ANNOTATION,
)

Raw = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerView:
    """One container: why it waits, or how it ended."""

    name: str
    started: bool
    running: bool
    waiting_reason: str = ""
    waiting_message: str = ""
    exit_code: int | None = None
    ended_reason: str = ""
    message: str = ""
    started_at: datetime | None = None
    finished_at: datetime | None = None
    image_id: str = ""
    restarts: int = 0

    @property
    def ended(self) -> bool:
        """Whether it has ended."""
        return self.exit_code is not None

    @property
    def oom(self) -> bool:
        """Whether the kernel ended it for want of memory; runtimes differ in the exit code."""
        return self.ended_reason == "OOMKilled"


@dataclass(frozen=True, slots=True, kw_only=True)
class PodView:
    """One pod of a campaign."""

    name: str
    uid: str
    owner_uid: str
    owner_name: str
    campaign: str
    role: str
    run: str
    attempt: int
    phase: str
    node: str
    created: datetime
    deleting: bool
    reason: str
    message: str
    disrupted: str  # reason of the condition DisruptionTarget
    unschedulable: str  # message of the condition PodScheduled, while it is false
    scheduled: datetime | None  # when it was given a node, by the scheduler's clock
    index: int | None
    round: int
    containers: Mapping[str, ContainerView]

    @property
    def final(self) -> bool:
        """Whether the API server counts it as over."""
        return self.phase in ("Succeeded", "Failed")

    @property
    def ended(self) -> bool:
        """Whether all of it is over: main container and every sidecar."""
        return self.final and all(not view.running for view in self.containers.values())

    def container(self, name: str) -> ContainerView | None:
        """The container of that name, if its status is known."""
        return self.containers.get(name)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeView:
    """One node: whether it answers, and what it is."""

    name: str
    uid: str
    ready: bool
    labels: Mapping[str, str]
    kernel: str
    runtime: str
    kubelet: str
    os_image: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JobView:
    """One grading Job: which round it is, and whether its controller is done with it."""

    round: int
    ended: bool


def job_view(raw: Raw) -> JobView:
    """Read a Job."""
    conditions = raw.get("status", {}).get("conditions") or ()
    over = {c["type"] for c in conditions if c["status"] == "True"}
    notes = raw["metadata"].get("annotations") or {}
    return JobView(
        round=int(notes.get(ROUND_ANNOTATION, 1)), ended=bool(over & {"Complete", "Failed"})
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """One run object, as far as a watch needs it."""

    name: str
    uid: str
    campaign: str
    run: str
    adjudications: Sequence[Raw] = ()


def run_view(raw: Raw) -> RunView:
    """Read a run object."""
    meta = raw["metadata"]
    return RunView(
        name=meta["name"],
        uid=meta["uid"],
        campaign=campaign_of(raw),
        run=raw.get("spec", {}).get("run", ""),
        adjudications=raw.get("spec", {}).get("adjudications") or (),
    )


def pod_view(raw: Raw) -> PodView:
    """Read a pod."""
    meta, spec, status = raw["metadata"], raw.get("spec", {}), raw.get("status", {})
    conditions = {entry["type"]: entry for entry in status.get("conditions") or ()}
    disrupted = conditions.get("DisruptionTarget", {})
    scheduled = conditions.get("PodScheduled", {})
    notes = meta.get("annotations") or {}
    owners = meta.get("ownerReferences") or ()
    holder: Raw = next((each for each in owners if each.get("controller")), {})
    index = notes.get("batch.kubernetes.io/job-completion-index")
    statuses = [
        *(status.get("initContainerStatuses") or ()),
        *(status.get("containerStatuses") or ()),
    ]
    return PodView(
        name=meta["name"],
        uid=meta["uid"],
        owner_uid=holder.get("uid", ""),
        owner_name=holder.get("name", ""),
        campaign=campaign_of(raw),
        role=(meta.get("labels") or {}).get(ROLE_LABEL, ""),
        run=notes.get(RUN_ANNOTATION, ""),
        attempt=int(notes.get(ATTEMPT_ANNOTATION, 0)),
        phase=status.get("phase", "Pending"),
        node=spec.get("nodeName", ""),
        created=instant(meta["creationTimestamp"]),
        deleting="deletionTimestamp" in meta,
        reason=status.get("reason", ""),
        message=status.get("message", ""),
        disrupted=disrupted.get("reason", "") if disrupted.get("status") == "True" else "",
        unschedulable=(
            scheduled.get("message", "") if scheduled.get("reason") == "Unschedulable" else ""
        ),
        scheduled=(
            _maybe(scheduled.get("lastTransitionTime"))
            if scheduled.get("status") == "True"
            else None
        ),
        index=int(index) if index is not None else None,
        round=int(notes.get(ROUND_ANNOTATION, 1)),
        containers={entry["name"]: _container(entry) for entry in statuses},
    )


def node_view(raw: Raw) -> NodeView:
    """Read a node."""
    status = raw.get("status", {})
    info = status.get("nodeInfo", {})
    ready = [c for c in status.get("conditions") or () if c["type"] == "Ready"]
    return NodeView(
        name=raw["metadata"]["name"],
        uid=raw["metadata"]["uid"],
        ready=bool(ready) and ready[0]["status"] == "True",
        labels=dict(raw["metadata"].get("labels") or {}),
        kernel=info.get("kernelVersion", ""),
        runtime=info.get("containerRuntimeVersion", ""),
        kubelet=info.get("kubeletVersion", ""),
        os_image=info.get("osImage", ""),
    )


def campaign_of(raw: Raw) -> str:
    """The uid of the campaign that an object belongs to."""
    return str((raw["metadata"].get("labels") or {}).get(CAMPAIGN_LABEL, ""))


def message_json(container: ContainerView | None) -> Raw | None:
    """The JSON object of a termination message, or None where there is none."""
    if container is None or not container.message:
        return None
    try:
        found = json.loads(container.message)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def instant(text: str) -> datetime:
    """A Kubernetes timestamp."""
    return datetime.fromisoformat(text)


def _container(entry: Raw) -> ContainerView:
    state = entry.get("state", {})
    waiting, ended = state.get("waiting") or {}, state.get("terminated") or {}
    running = state.get("running") or {}
    return ContainerView(
        name=entry["name"],
        started=bool(running or ended),
        running=bool(running),
        waiting_reason=waiting.get("reason", ""),
        waiting_message=waiting.get("message", ""),
        exit_code=ended.get("exitCode"),
        ended_reason=ended.get("reason", ""),
        message=ended.get("message", ""),
        started_at=_maybe(running.get("startedAt") or ended.get("startedAt")),
        finished_at=_maybe(ended.get("finishedAt")),
        image_id=entry.get("imageID", ""),
        restarts=entry.get("restartCount", 0),
    )


def _maybe(text: str | None) -> datetime | None:
    return instant(text) if text else None
