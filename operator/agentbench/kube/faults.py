"""What a pod and its node tell of a failure, in the order pod, node, init, services, warden, main.

Cluster facts only: nothing that a container printed is read here.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime

from agentbench.core.failure import Fault
from agentbench.core.reasons import Reason
from agentbench.core.seen import PodState, Waiting
from agentbench.kube.view import ContainerView, NodeView, PodView

_DISRUPTIONS: Mapping[str, Reason] = {
    "PreemptionByScheduler": Reason.PREEMPTED,
    "PreemptionByKubeScheduler": Reason.PREEMPTED,
    "DeletionByTaintManager": Reason.NODE_LOST,
    "EvictionByEvictionAPI": Reason.EVICTED,
    "TerminationByKubelet": Reason.EVICTED,
    "DeletionByPodGC": Reason.NODE_LOST,
}
_PULL = {
    "ErrImagePull",
    "ImagePullBackOff",
    "InvalidImageName",
    "ErrImageNeverPull",
    "RegistryUnavailable",
    "ImageInspectError",
}
_INIT: Mapping[str, Reason] = {
    "fence": Reason.NOT_ISOLATED,
    "seed": Reason.SEED_FAILED,
}
_OWN_DISK = re.compile(
    r'EmptyDir volume "(workspace|home|tmp|control)" exceeds the limit'
    r"|Container agent exceeded its local ephemeral storage limit"
)
"""Kubelet's words when the agent filled a volume of its own, and not the node its disk."""


def pod_state(pod: PodView, node: NodeView | None) -> PodState:
    """Where a run pod stands; a pod on a node that does not answer may still run."""
    if pod.ended:
        return PodState.ENDED
    if pod.node and node is not None and not node.ready:
        return PodState.LOST
    agent = pod.container("agent")
    if agent is not None and agent.started:
        return PodState.RUNNING
    return PodState.WAITING


def pod_faults(
    pod: PodView, node: NodeView | None, selector: Mapping[str, str]
) -> tuple[Fault, ...]:
    """Everything about a pod and its node that is a failure."""
    return tuple(_faults(pod, node, selector))


def waiting(pod: PodView, now: datetime) -> Waiting | None:
    """What keeps a pod from starting: a node since it was made, all else since it has one."""
    since = pod.scheduled or pod.created
    seconds = max(0.0, (now - since).total_seconds())
    if pod.unschedulable:
        return Waiting(reason=Reason.UNSCHEDULABLE, seconds=seconds, detail=pod.unschedulable)
    for view in pod.containers.values():
        if view.waiting_reason in _PULL:
            detail = f"{view.name}: {view.waiting_reason}"
            return Waiting(reason=Reason.IMAGE_PULL, seconds=seconds, detail=detail)
        if view.waiting_reason in ("CreateContainerConfigError", "CreateContainerError"):
            detail = f"{view.name}: {view.waiting_message}"
            return Waiting(reason=Reason.VOLUME_FAILED, seconds=seconds, detail=detail)
    if not pod.node:
        return Waiting(reason=Reason.UNSCHEDULABLE, seconds=seconds, detail="not scheduled yet")
    return Waiting(reason=Reason.VOLUME_FAILED, seconds=seconds, detail="containers not started")


def hangs(pod: PodView) -> bool:
    """Whether a pod has services, and goes on though its agent is gone.

    More is not told: kubelet reports nothing of a pod while it waits for its containers to stop.
    """
    agent = pod.container("agent")
    over = agent is not None and agent.ended and not pod.ended and not pod.deleting
    return over and any(name.startswith("service-") for name in pod.containers)


def service_died(view: ContainerView) -> bool:
    """Whether a container is a stack's service that ended by itself."""
    return view.name.startswith("service-") and (view.restarts > 0 or view.oom)


def _faults(pod: PodView, node: NodeView | None, selector: Mapping[str, str]) -> Iterator[Fault]:
    whole = list(_pod_faults(pod))
    yield from whole
    if node is not None and pod.node and not _of_class(node, selector):
        yield Fault(
            reason=Reason.UNSCHEDULABLE, detail=f"node {node.name} is not of the frozen class"
        )
    for name, view in pod.containers.items():
        for fault in _container_faults(name, view):
            # Containers of a pod that is ended as a whole are killed, and have not failed.
            if not whole or fault.reason is Reason.AGENT_OOM or name in _INIT:
                yield fault


def _pod_faults(pod: PodView) -> Iterator[Fault]:
    if pod.disrupted:
        reason = _DISRUPTIONS.get(pod.disrupted, Reason.POD_DELETED)
        yield Fault(reason=reason, detail=pod.disrupted)
    elif pod.reason == "Evicted":
        own = _OWN_DISK.search(pod.message) is not None
        yield Fault(reason=Reason.AGENT_DISK if own else Reason.EVICTED, detail=pod.message)
    elif pod.reason == "NodeLost":
        yield Fault(reason=Reason.NODE_LOST, detail=pod.message)
    elif pod.reason in ("UnexpectedAdmissionError", "NodeAffinity", "OutOfcpu", "OutOfmemory"):
        yield Fault(reason=Reason.UNSCHEDULABLE, detail=f"{pod.reason}: {pod.message}")
    elif pod.deleting and not pod.ended:
        yield Fault(reason=Reason.POD_DELETED, detail="deleted from outside")


def _container_faults(name: str, view: ContainerView) -> Iterator[Fault]:
    if name in _INIT and view.ended and view.exit_code != 0:
        yield Fault(reason=_INIT[name], detail=view.message or f"exit {view.exit_code}")
    elif service_died(view):
        detail = f"{name}: {view.ended_reason or 'restarted'}"
        yield Fault(reason=Reason.SERVICE_DIED, detail=detail)
    elif name in ("warden", "capture") and (view.restarts or view.oom or view.exit_code):
        detail = f"{name}: {view.ended_reason or 'restarted'}, exit {view.exit_code}"
        yield Fault(reason=Reason.WARDEN_DIED, detail=detail)
    elif name == "agent" and view.oom:
        yield Fault(reason=Reason.AGENT_OOM, detail="memory limit of its container")


def _of_class(node: NodeView, selector: Mapping[str, str]) -> bool:
    return all(node.labels.get(name) == value for name, value in selector.items())
