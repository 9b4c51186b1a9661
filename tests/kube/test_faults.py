"""What a pod's status means, for pods as real clusters wrote them."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from agentbench.core.reasons import Reason
from agentbench.core.seen import PodState
from agentbench.kube.faults import pod_faults, pod_state, waiting
from agentbench.kube.view import NodeView, PodView, message_json, pod_view

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def raw(phase: str = "Running", **status: Any) -> dict[str, Any]:
    return {
        "metadata": {
            "name": "p",
            "uid": "u",
            "creationTimestamp": "2026-11-30T11:59:00Z",
            "labels": {"agentbench.dev/role": "run"},
            "annotations": {"agentbench.dev/run": "r", "agentbench.dev/attempt": "1"},
        },
        "spec": {"nodeName": "n"},
        "status": {"phase": phase, **status},
    }


def ended(name: str, code: int, reason: str = "Completed", message: str = "") -> dict[str, Any]:
    state = {"terminated": {"exitCode": code, "reason": reason, "message": message}}
    return {"name": name, "state": state, "restartCount": 0}


def running(name: str, restarts: int = 0) -> dict[str, Any]:
    state = {"running": {"startedAt": "2026-11-30T11:59:10Z"}}
    return {"name": name, "state": state, "restartCount": restarts}


def node(ready: bool = True, **labels: str) -> NodeView:
    return NodeView(
        uid="node-uid",
        name="n",
        ready=ready,
        labels=labels,
        kernel="",
        runtime="",
        kubelet="",
        os_image="",
    )


def reasons(view: PodView, at: NodeView | None = None) -> list[Reason]:
    return [fault.reason for fault in pod_faults(view, at, {})]


@pytest.mark.parametrize(
    ("why", "reason"),
    [
        ("PreemptionByScheduler", Reason.PREEMPTED),
        ("DeletionByTaintManager", Reason.NODE_LOST),
        ("EvictionByEvictionAPI", Reason.EVICTED),
        ("TerminationByKubelet", Reason.EVICTED),
        ("DeletionByPodGC", Reason.NODE_LOST),
    ],
)
def test_a_disruption_is_named_by_its_condition(why: str, reason: Reason) -> None:
    condition = {"type": "DisruptionTarget", "status": "True", "reason": why}
    assert reasons(pod_view(raw(conditions=[condition]))) == [reason]


def test_a_volume_of_its_own_that_overflowed_is_the_agents_fault_and_node_pressure_is_not() -> None:
    own = 'Usage of EmptyDir volume "workspace" exceeds the limit "100Mi". '
    assert reasons(pod_view(raw("Failed", reason="Evicted", message=own))) == [Reason.AGENT_DISK]
    ours = own.replace("workspace", "record")
    assert reasons(pod_view(raw("Failed", reason="Evicted", message=ours))) == [Reason.EVICTED]
    node_low = "The node was low on resource: memory."
    evicted = pod_view(raw("Failed", reason="Evicted", message=node_low))
    assert reasons(evicted) == [Reason.EVICTED]


@pytest.mark.parametrize("code", [137, 128])
def test_out_of_memory_is_known_by_its_reason_and_not_by_an_exit_code(code: int) -> None:
    oom = raw("Failed", containerStatuses=[ended("agent", code, "OOMKilled")])
    assert reasons(pod_view(oom)) == [Reason.AGENT_OOM]
    killed = raw("Failed", containerStatuses=[ended("agent", code, "Error")])
    assert reasons(pod_view(killed)) == []


def test_init_containers_and_sidecars_are_the_harness() -> None:
    view = pod_view(
        raw(
            "Running",
            initContainerStatuses=[
                ended("fence", 1, "Error", "still open"),
                running("warden", restarts=1),
                running("service-db", restarts=2),
            ],
        )
    )
    assert reasons(view) == [Reason.NOT_ISOLATED, Reason.WARDEN_DIED, Reason.SERVICE_DIED]


def test_a_sidecar_that_was_told_to_stop_is_no_fault() -> None:
    view = pod_view(raw("Succeeded", initContainerStatuses=[ended("warden", 0)]))
    assert reasons(view) == []


def test_a_node_of_another_class_is_a_fault() -> None:
    view = pod_view(raw())
    faults = pod_faults(view, node(kind="general"), {"kind": "pinned"})
    assert [fault.reason for fault in faults] == [Reason.UNSCHEDULABLE]


def test_a_pod_has_ended_only_when_its_sidecars_have() -> None:
    main = [ended("agent", 0)]
    early = raw("Succeeded", containerStatuses=main, initContainerStatuses=[running("warden")])
    assert pod_state(pod_view(early), node()) is PodState.RUNNING
    late = raw("Succeeded", containerStatuses=main, initContainerStatuses=[ended("warden", 0)])
    assert pod_state(pod_view(late), node()) is PodState.ENDED


def test_a_pod_on_a_node_that_does_not_answer_may_still_run() -> None:
    view = pod_view(raw(containerStatuses=[running("agent")]))
    assert pod_state(view, node(ready=False)) is PodState.LOST
    assert pod_state(view, node()) is PodState.RUNNING


@pytest.mark.parametrize("why", ["ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull"])
def test_an_image_that_cannot_be_had_is_said(why: str) -> None:
    blocked = {"name": "agent", "state": {"waiting": {"reason": why}}, "restartCount": 0}
    found = waiting(pod_view(raw("Pending", containerStatuses=[blocked])), NOW)
    assert found is not None
    assert (found.reason, found.seconds) == (Reason.IMAGE_PULL, 60)


def test_waiting_time_is_never_negative_though_clocks_differ() -> None:
    found = waiting(pod_view(raw("Pending")), NOW - timedelta(minutes=5))
    assert found is not None
    assert found.seconds == 0


def test_a_termination_message_that_is_no_json_is_none() -> None:
    view = pod_view(raw(containerStatuses=[ended("a", 0, message="{broken"), ended("b", 0)]))
    assert message_json(view.container("a")) is None
    assert message_json(view.container("b")) is None
    good = pod_view(raw(containerStatuses=[ended("a", 0, message='{"x": 1}')]))
    assert message_json(good.container("a")) == {"x": 1}
