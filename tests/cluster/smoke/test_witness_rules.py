"""Each invariant, with a timeline that keeps it and one in which its breach was planted."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.cluster.witness.judge import judge
from tests.cluster.witness.timeline import (
    ATTEMPT,
    CAMPAIGN,
    ROLE,
    RUN,
    CampaignSeen,
    NodeSeen,
    PodSeen,
    RowSeen,
    RunSeen,
    Seen,
    Timeline,
)

UID, NAME = "c-uid", "first"
POLICY: dict[str, Any] = {
    "metadata": {"name": "runs", "namespace": "bench"},
    "spec": {
        "podSelector": {"matchLabels": {ROLE: "run"}},
        "policyTypes": ["Egress"],
        "egress": [{"to": [{"ipBlock": {"cidr": "10.0.0.9/32"}}]}],
    },
}


def _list(*seen: Seen) -> list[Seen]:
    return list(seen)


def campaign(at: float = 0.0, **changes: Any) -> CampaignSeen:
    spec = {
        "protocol": {"id": "P", "freeze": {"digest": "sha256:1"}, "amendments": [{"seq": 1}]},
        "repeats": 5,
        "parallelism": 2,
        "checks": {"repeats": 3},
        "budget": {"totalUSD": "10"},
        **changes,
    }
    return CampaignSeen(at, UID, NAME, spec)


def pod(
    at: float,
    run: str = "r1",
    attempt: int = 1,
    phase: str = "Running",
    role: str = "run",
    uid: str | None = None,
    gone: bool = False,
    node: str = "node-a",
    labels: dict[str, str] | None = None,
    **spec: Any,
) -> PodSeen:
    name = f"{role}-{run}-{attempt}"
    meta = {
        "name": name,
        "namespace": "bench",
        "uid": uid or name,
        "labels": {CAMPAIGN: UID, ROLE: role, **(labels or {})},
        "annotations": {RUN: run, ATTEMPT: str(attempt)},
    }
    agent = {"name": "agent", "volumeMounts": [{"name": "workspace"}]}
    whole = {
        "nodeName": node,
        "automountServiceAccountToken": False,
        "volumes": [{"name": "workspace", "emptyDir": {}}],
        "containers": [agent],
        **spec,
    }
    return PodSeen(at, gone, {"metadata": meta, "spec": whole, "status": {"phase": phase}})


def row(at: float, run: str = "r1", attempt: int = 1, cost: str = "1", **rest: Any) -> RowSeen:
    content = {
        "run": run,
        "attempt": attempt,
        "outcome": "fail",
        "metrics": {"cost_usd": {"value": cost}},
        **rest,
    }
    key = f"prefix/{NAME}/rows/{run}/{attempt}.json"
    return RowSeen(at, key, json.dumps(content).encode())


def run_seen(at: float, **status: Any) -> RunSeen:
    attempt = {"number": 1, "phase": "Recorded", **status}
    spec = {"campaignUid": UID, "run": "r1"}
    body = {"metadata": {"uid": "r1-uid"}, "spec": spec, "status": {"attempts": [attempt]}}
    return RunSeen(at, body)


def whole_run(run: str = "r1", at: float = 1.0) -> list[Seen]:
    """One run as it should be: agent, then graders, then its row, then no pods."""
    graders = [
        pod(at + 2 + n / 10, run, role="grader", uid=f"g{n}-{run}", phase=phase)
        for phase in ("Running", "Succeeded")
        for n in range(3)
    ]
    return [
        pod(at, run, phase="Pending"),
        pod(at + 0.5, run),
        pod(at + 1, run, phase="Succeeded"),
        *graders,
        row(at + 4, run, outcome="pass"),
        pod(at + 5, run, phase="Succeeded", gone=True),
    ]


def broken(*seen: Seen, policies: tuple[Any, ...] = (POLICY,), metrics: str = "") -> set[int]:
    """The numbers of the invariants that a timeline breaks."""
    timeline = Timeline(tuple(seen), (), policies, metrics)
    return {violation.invariant for violation in judge(timeline)}


def test_a_campaign_as_it_should_be_breaks_nothing() -> None:
    runs = [seen for number in range(10) for seen in whole_run(f"r{number}", 1 + 10 * number)]
    metrics = 'agentbench_runs_total{outcome="pass",stack="S1"} 10\n'
    assert broken(campaign(), *runs, metrics=metrics) == set()


def test_a_second_attempt_after_the_first_pod_is_gone_breaks_nothing() -> None:
    first = _list(pod(1), pod(2, phase="Failed"), row(3), pod(4, phase="Failed", gone=True))
    second = _list(pod(5, attempt=2), pod(6, attempt=2, phase="Failed"), row(7, attempt=2))
    assert broken(campaign(), *first, *second) == set()


def test_a_second_attempt_while_the_first_ones_node_is_lost_breaks_nothing() -> None:
    seen = _list(pod(1), NodeSeen(2, "node-a", False), row(3), pod(4, attempt=2, node="node-b"))
    assert broken(campaign(), *seen, row(5, attempt=2)) == set()


def test_a_recorded_reason_stands_for_a_row() -> None:
    failed = [pod(1), pod(2, phase="Failed")]
    assert broken(campaign(), *failed, run_seen(3, reason="StoreRefused")) == set()


def test_a_lowered_parallelism_kills_nothing_and_breaks_nothing() -> None:
    live = _list(pod(1, "r1"), pod(1, "r2"), campaign(2, parallelism=1))
    ended = [pod(3, run, phase="Failed") for run in ("r1", "r2")]
    assert broken(campaign(), *live, *ended, row(4, "r1"), row(4, "r2")) == set()


def test_an_appended_amendment_breaks_nothing() -> None:
    protocol = campaign().spec["protocol"]
    longer = {**protocol, "amendments": [{"seq": 1}, {"seq": 2}]}
    assert broken(campaign(), campaign(1, protocol=longer, suspend=True)) == set()


Plant = Callable[[], list[Seen]]
PLANTED: dict[str, tuple[int, Plant]] = {
    "an attempt without a row": (1, lambda: [pod(1), pod(2, phase="Failed")]),
    "a row that was changed": (1, lambda: [row(1), row(2, cost="2")]),
    "a row that was lost": (1, lambda: [row(1), RowSeen(2, row(1).key, None)]),
    "a row and a reason for none": (
        1,
        lambda: [pod(1), pod(2, phase="Failed"), row(3), run_seen(4, reason="StoreRefused")],
    ),
    "a row under another's key": (
        1,
        lambda: [RowSeen(1, row(1, "r2").key, row(1, "r1").content)],
    ),
    "three live pods of two": (
        2,
        lambda: [pod(1, "r1"), pod(1, "r2"), pod(1, "r3"), row(2), row(2, "r2"), row(2, "r3")],
    ),
    "a pod added above a lowered limit": (
        2,
        lambda: [
            pod(1, "r1"),
            campaign(2, parallelism=1),
            pod(3, "r2"),
            row(4, "r1"),
            row(4, "r2"),
        ],
    ),
    "two pods for one attempt": (
        3,
        lambda: [pod(1, uid="a"), pod(2, uid="a", gone=True), pod(3, uid="b"), row(4)],
    ),
    "a second attempt beside the first": (
        3,
        lambda: [NodeSeen(0, "node-a", True), pod(1), pod(2, attempt=2), row(3), row(4, attempt=2)],
    ),
    "a third attempt": (3, lambda: [pod(1, attempt=3), row(2, attempt=3)]),
    "more spent than the budget": (4, lambda: [row(1, cost="6"), row(2, "r2", cost="6")]),
    "a frozen field changed": (5, lambda: [campaign(1, repeats=6)]),
    "a frozen field first set": (5, lambda: [campaign(1, order={"seed": 1})]),
    "an amendment rewritten": (
        5,
        lambda: [campaign(1, protocol={**campaign().spec["protocol"], "amendments": []})],
    ),
    "a digest changed": (
        5,
        lambda: [
            campaign(1, protocol={**campaign().spec["protocol"], "freeze": {"digest": "sha256:2"}})
        ],
    ),
    "a pass without graders": (
        6,
        lambda: [pod(1), pod(2, phase="Succeeded"), row(3, outcome="pass")],
    ),
    "a pass that one grader refused": (
        6,
        lambda: [
            *(
                seen
                for seen in whole_run()
                if not (isinstance(seen, PodSeen) and seen.uid == "g2-r1")
            ),
            pod(9, role="grader", uid="g2-r1", phase="Failed"),
        ],
    ),
    "a grade while the agent lives": (6, lambda: [pod(1), pod(2, role="grader", uid="g"), row(3)]),
    "an agent with a service account": (
        7,
        lambda: [pod(1, automountServiceAccountToken=True), row(2)],
    ),
    "an agent with a secret's volume": (
        7,
        lambda: [
            pod(1, volumes=[{"name": "workspace", "secret": {"secretName": "key"}}]),
            row(2),
        ],
    ),
    "an agent with a secret's variable": (
        7,
        lambda: [
            pod(
                1,
                containers=[
                    {
                        "name": "agent",
                        "env": [
                            {
                                "name": "KEY",
                                "valueFrom": {"secretKeyRef": {"name": "k", "key": "k"}},
                            }
                        ],
                    }
                ],
            ),
            row(2),
        ],
    ),
    "an agent with the node's files": (
        7,
        lambda: [pod(1, volumes=[{"name": "workspace", "hostPath": {"path": "/"}}]), row(2)],
    ),
    "a label that names the run": (
        8,
        lambda: [
            seen
            for number in range(10)
            for seen in (
                pod(number, f"r{number}", phase="Failed", labels={"run": f"r{number}"}),
                row(number + 0.5, f"r{number}"),
            )
        ],
    ),
}


@pytest.mark.parametrize("what", sorted(PLANTED))
def test_a_planted_breach_is_found_and_nothing_else(what: str) -> None:
    number, plant = PLANTED[what]
    assert broken(campaign(), *plant()) == {number}, what


def test_a_pod_that_no_policy_governs_is_found() -> None:
    assert broken(campaign(), pod(1), row(2), policies=()) == {7}


def test_a_policy_that_lets_a_pod_reach_everyone_is_found() -> None:
    wide = {**POLICY, "spec": {**POLICY["spec"], "egress": [{}]}}
    assert broken(campaign(), pod(1), row(2), policies=(wide,)) == {7}


def test_a_policy_for_other_pods_does_not_count() -> None:
    other = {**POLICY, "spec": {**POLICY["spec"], "podSelector": {"matchLabels": {ROLE: "x"}}}}
    assert broken(campaign(), pod(1), row(2), policies=(other,)) == {7}


def test_a_metric_label_that_names_a_run_is_found() -> None:
    metrics = 'agentbench_run_cost{run="r1"} 1\n'
    assert broken(campaign(), pod(1), row(2), metrics=metrics) == {8}


def test_a_gap_in_the_witness_own_sight_is_told() -> None:
    (only,) = judge(Timeline((), ((3.0, "pods: too old"),)))
    assert (only.invariant, "too old" in only.text) == (0, True)
