"""What grader pods say becomes checks, and a verdict beside a dead service is none."""

import json
from datetime import UTC, datetime
from typing import Any

from tests.fakes.build import a_campaign, checks

from agentbench.api.run import AttemptStatus
from agentbench.app.campaign import Campaign
from agentbench.app.gather import grading_of, seen_of
from agentbench.core.failure import Evidence, judge
from agentbench.core.reasons import Reason
from agentbench.core.seen import Left
from agentbench.core.steps import Patience, Step, next_step
from agentbench.core.summary import Ending, Summary
from agentbench.kube.view import PodView, pod_view
from agentbench_analysis.rows.model import Security
from agentbench_analysis.rows.words import CheckVerdict


def grader(index: int, said: dict[str, Any] | None, restarts: int = 0) -> PodView:
    message = json.dumps(said) if said is not None else ""
    ended = {"terminated": {"exitCode": 0, "reason": "Completed", "message": message}}
    return pod_view(
        {
            "metadata": {
                "name": f"g-{index}",
                "uid": f"u{index}",
                "creationTimestamp": "2026-11-30T12:00:00Z",
                "labels": {"agentbench.dev/role": "grader"},
                "annotations": {"batch.kubernetes.io/job-completion-index": str(index)},
            },
            "status": {
                "phase": "Succeeded",
                "containerStatuses": [{"name": "check", "state": ended, "restartCount": 0}],
                "initContainerStatuses": [
                    {"name": "service-db", "state": {"running": {}}, "restartCount": restarts}
                ],
            },
        }
    )


NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
PASS = {"verdict": "pass", "exitCode": 0}


def test_verdicts_of_all_indexes_make_a_grading() -> None:
    grading = grading_of([grader(0, PASS), grader(1, PASS)], repeats=1)
    assert grading is not None
    assert grading.done
    assert grading.judged
    assert [check.verdict for check in grading.checks] == [CheckVerdict.PASS]


def test_a_missing_index_is_waited_for() -> None:
    grading = grading_of([grader(0, PASS)], repeats=1)
    assert grading is not None
    assert not grading.done


def test_a_pod_without_a_verdict_could_not_judge() -> None:
    grading = grading_of([grader(0, None), grader(1, None)], repeats=1)
    assert grading is not None
    assert not grading.judged
    assert grading.checks[0].reason == Reason.CHECK_ERROR
    assert not grading.security.ran


def test_a_verdict_beside_a_dead_service_is_the_harness_and_not_the_agent() -> None:
    failed = {"verdict": "fail", "exitCode": 1}
    pods = [grader(0, failed, restarts=1), grader(1, PASS, restarts=1)]
    grading = grading_of(pods, repeats=1)
    assert grading is not None
    assert grading.checks[0].verdict is CheckVerdict.ERROR
    assert grading.checks[0].reason == Reason.SERVICE_DIED
    assert not grading.security.ran


def test_a_pod_that_this_process_made_and_is_not_there_was_deleted_by_somebody() -> None:
    attempt = AttemptStatus(number=1, phase="Pending")
    campaign = Campaign(
        name="c", namespace="n", uid="u", generation=1, spec=a_campaign(), digest="", runs=()
    )
    seen = seen_of(campaign, attempt, (), {}, Left(claimed=False), NOON, made=True)
    found = next_step(seen, repeats=1, patience=Patience())
    assert found.step is Step.RECORD
    assert found.evidence is not None
    assert [fault.reason for fault in found.evidence.place] == [Reason.POD_DELETED]


def run_pod(**changes: Any) -> PodView:
    """A run pod that has ended, and whose warden says that the pod was deleted under it."""
    summary = Summary(
        run="r", attempt=1, ending=Ending.STOPPED, interrupted="its pod was deleted while it ran"
    )
    ended = {"terminated": {"exitCode": 0, "message": summary.model_dump_json()}}
    return pod_view(
        {
            "metadata": {
                "name": "p",
                "uid": "u",
                "creationTimestamp": "2026-11-30T12:00:00Z",
                "labels": {"agentbench.dev/role": "run"},
                **changes.get("metadata", {}),
            },
            "status": {
                "phase": "Succeeded",
                "initContainerStatuses": [{"name": "warden", "state": ended}],
                **changes.get("status", {}),
            },
        }
    )


def reasons(pod: PodView) -> tuple[Reason, ...]:
    """What is held against an attempt with this pod, graded and passed."""
    campaign = Campaign(
        name="demo", namespace="n", uid="u", generation=1, spec=a_campaign(), digest="", runs=()
    )
    attempt = AttemptStatus(number=1, phase="Running")
    seen = seen_of(campaign, attempt, [pod], {}, None, datetime(2026, 11, 30, 13, tzinfo=UTC))
    evidence = Evidence(
        place=seen.faults,
        summary=seen.summary,
        checks=checks(CheckVerdict.PASS),
        repeats=1,
        security=Security(ran=True),
    )
    return judge(evidence).reasons


def test_an_agent_cannot_say_that_its_pod_was_deleted() -> None:
    assert reasons(run_pod()) == ()


def test_a_pod_that_was_deleted_or_disrupted_interrupts_its_attempt() -> None:
    deleted = {"deletionTimestamp": "2026-11-30T12:10:00Z"}
    assert Reason.POD_DELETED in reasons(run_pod(metadata=deleted))
    disrupted = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
    assert Reason.PREEMPTED in reasons(run_pod(status={"conditions": [disrupted]}))
