"""An attempt's next step, from what is seen: never a second agent, never a lost row."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.build import CLEAN, a_summary, checks

from agentbench.core.failure import Fault, judge
from agentbench.core.reasons import Reason
from agentbench.core.seen import Grading, Left, PodState, Seen, Waiting
from agentbench.core.steps import Next, Patience, Step, next_step
from agentbench.core.summary import Ending
from agentbench_analysis.rows.model import Check, Security
from agentbench_analysis.rows.words import Cause, CheckVerdict, Outcome

PATIENCE = Patience(image_pull=60, unschedulable=60, quota=60, other=60)
PASS, FAIL, ERROR = CheckVerdict.PASS, CheckVerdict.FAIL, CheckVerdict.ERROR


def step(seen: Seen) -> Next:
    return next_step(seen, repeats=3, patience=PATIENCE)


def graded(*verdicts: CheckVerdict, round_: int = 1, done: bool = True) -> Grading:
    return Grading(round=round_, done=done, checks=checks(*verdicts), security=CLEAN)


def test_a_pod_that_was_never_there_is_created_only_after_the_store_was_asked() -> None:
    assert step(Seen()).step is Step.LOOK
    assert step(Seen(left=Left(claimed=False))).step is Step.CREATE


def test_an_agent_that_may_have_started_is_never_started_again() -> None:
    gone = step(Seen(left=Left(claimed=True)))
    assert gone.step is Step.RECORD
    assert gone.evidence is not None
    assert judge(gone.evidence).reasons == (Reason.POD_DELETED,)


def test_a_pod_that_was_seen_and_is_gone_is_not_created_again() -> None:
    assert step(Seen(created=True, left=Left(claimed=False))).step is Step.RECORD


def test_a_pod_that_is_gone_is_judged_by_the_summary_it_left() -> None:
    left = Left(claimed=True, summary=a_summary())
    assert step(Seen(left=left, snapshot=True)).step is Step.GRADE


def test_an_unreachable_pod_is_waited_for_since_it_may_still_run() -> None:
    assert step(Seen(pod=PodState.LOST)).step is Step.WAIT


def test_an_image_that_heals_in_time_is_waited_for_and_one_that_does_not_ends_its_pod() -> None:
    soon = Waiting(reason=Reason.IMAGE_PULL, seconds=59)
    assert step(Seen(pod=PodState.WAITING, waiting=soon)).step is Step.WAIT
    late = step(Seen(pod=PodState.WAITING, waiting=Waiting(reason=Reason.IMAGE_PULL, seconds=61)))
    assert (late.step, late.fault) == (Step.END, Fault(reason=Reason.IMAGE_PULL, detail="for 61 s"))


def test_a_pod_that_is_ended_is_recorded_only_when_it_is_gone_and_by_why_it_was_ended() -> None:
    noted = [Fault(reason=Reason.IMAGE_PULL)]
    deleting = Fault(reason=Reason.POD_DELETED)
    there = step(Seen(pod=PodState.WAITING, noted=noted, faults=[deleting]))
    assert (there.step, there.fault) == (Step.END, noted[0])
    gone = step(Seen(noted=noted, left=Left(claimed=False, created=True)))
    assert gone.step is Step.RECORD
    assert gone.evidence is not None
    assert judge(gone.evidence).reasons == (Reason.IMAGE_PULL,)


@pytest.mark.parametrize("reason", [Reason.UNSCHEDULABLE, Reason.WARDEN_DIED, Reason.SERVICE_DIED])
def test_a_run_of_which_nothing_can_come_is_ended(reason: Reason) -> None:
    assert step(Seen(pod=PodState.RUNNING, faults=[Fault(reason=reason)])).step is Step.END
    assert step(Seen(pod=PodState.RUNNING, faults=[Fault(reason=Reason.AGENT_OOM)])).step is (
        Step.WAIT
    )


def test_a_pod_whose_services_alone_go_on_is_ended_after_a_while_and_is_no_failure() -> None:
    whole = Left(claimed=True, summary=a_summary())
    hangs: dict[str, Any] = {"pod": PodState.RUNNING, "hanging": 31}
    assert step(Seen(pod=PodState.RUNNING, hanging=29, left=whole)).step is Step.WAIT
    assert step(Seen(**hangs)).step is Step.LOOK
    assert step(Seen(**hangs, left=Left(claimed=True))).step is Step.WAIT  # it is being packed
    ended = step(Seen(**hangs, left=whole))
    assert (ended.step, ended.at_once, ended.fault) == (Step.END, True, None)
    full = Fault(reason=Reason.AGENT_DISK)
    assert (
        step(Seen(**hangs, left=whole, faults=[full])).fault == full
    )  # its pod goes, and this stays
    assert step(Seen(pod=PodState.RUNNING, noted=[full])).step is Step.WAIT
    noted = [Fault(reason=Reason.POD_DELETED)]
    assert step(Seen(left=whole, noted=noted, snapshot=True)).step is Step.GRADE


def test_a_pod_out_of_reach_is_given_up_when_its_wall_cap_is_over_by_what_it_left() -> None:
    lost: dict[str, Any] = {"pod": PodState.LOST, "overdue": True}
    assert step(Seen(**lost)).step is Step.LOOK
    given_up = step(Seen(**lost, left=Left(claimed=True)))
    assert given_up.step is Step.RECORD
    assert given_up.evidence is not None
    assert judge(given_up.evidence).reasons == (Reason.NODE_LOST,)
    whole = Left(claimed=True, summary=a_summary())
    assert step(Seen(**lost, left=whole, snapshot=True)).step is Step.GRADE


def test_what_was_interrupted_is_infra_though_its_state_was_captured() -> None:
    cut = a_summary(Ending.STOPPED, interrupted="its pod was deleted while it ran")
    noted = [Fault(reason=Reason.EVICTED)]
    found = step(Seen(noted=noted, left=Left(claimed=True, summary=cut), snapshot=True))
    assert found.step is Step.RECORD
    assert found.evidence is not None
    assert judge(found.evidence).reasons == (Reason.EVICTED,)


def test_a_row_that_is_there_is_taken_up_and_nothing_is_graded_again() -> None:
    left = Left(claimed=True, summary=a_summary(), recorded=True)
    assert step(Seen(left=left, snapshot=True)).step is Step.RECORD


def test_an_attempt_that_was_given_up_before_it_had_a_pod_never_gets_one() -> None:
    found = step(Seen(left=Left(claimed=False, denied="exceeded quota")))
    assert found.step is Step.RECORD
    assert found.evidence is not None
    assert judge(found.evidence).reasons == (Reason.QUOTA_DENIED,)


def test_a_captured_run_is_graded_and_then_recorded() -> None:
    ended = Seen(pod=PodState.ENDED, summary=a_summary(), snapshot=True)
    assert step(ended) == Next(step=Step.GRADE, round=1)
    waiting = Seen(
        pod=PodState.ENDED, summary=a_summary(), snapshot=True, grading=graded(done=False)
    )
    assert step(waiting).step is Step.WAIT
    done = Seen(
        pod=PodState.ENDED, summary=a_summary(), snapshot=True, grading=graded(PASS, PASS, PASS)
    )
    recorded = step(done)
    assert recorded.step is Step.RECORD
    assert recorded.evidence is not None
    assert judge(recorded.evidence).outcome is Outcome.PASS


def after(grading: Grading) -> Next:
    return step(Seen(pod=PodState.ENDED, summary=a_summary(), snapshot=True, grading=grading))


def test_a_grading_that_could_not_judge_is_done_once_more_on_the_same_snapshot() -> None:
    assert after(graded(PASS, ERROR, PASS)) == Next(step=Step.GRADE, round=2)
    last = after(graded(PASS, ERROR, PASS, round_=2))
    assert last.step is Step.RECORD
    assert last.evidence is not None
    assert judge(last.evidence).cause is Cause.INFRA


def test_an_app_that_does_not_start_is_judged_at_once() -> None:
    down = Security(ran=False, reason=Reason.APP_NOT_STARTED.value)
    failed = [
        Check(repeat=1, verdict=FAIL, reason=Reason.APP_NOT_STARTED.value),
    ]
    grading = Grading(round=1, done=True, checks=failed, security=down)
    found = step(Seen(pod=PodState.ENDED, summary=a_summary(), snapshot=True, grading=grading))
    assert found.step is Step.RECORD


def test_infra_failures_are_not_graded() -> None:
    fault = Fault(reason=Reason.EVICTED, detail="node was low on memory")
    seen = Seen(pod=PodState.ENDED, summary=a_summary(), snapshot=True, faults=[fault])
    assert step(seen).step is Step.RECORD


def test_a_pod_level_reason_wins_over_a_container_that_ended_well() -> None:
    fault = Fault(reason=Reason.EVICTED)
    seen = Seen(pod=PodState.ENDED, summary=a_summary(), faults=[fault])
    recorded = step(seen)
    assert recorded.evidence is not None
    assert judge(recorded.evidence).reasons[0] is Reason.EVICTED


SEEN = st.builds(
    Seen,
    pod=st.one_of(st.none(), st.sampled_from(PodState)),
    created=st.booleans(),
    waiting=st.one_of(
        st.none(),
        st.builds(Waiting, reason=st.sampled_from(Reason), seconds=st.floats(0, 200)),
    ),
    faults=st.lists(st.builds(Fault, reason=st.sampled_from(Reason)), max_size=2),
    noted=st.lists(st.builds(Fault, reason=st.sampled_from(Reason)), max_size=1),
    overdue=st.booleans(),
    hanging=st.floats(0, 100),
    summary=st.one_of(st.none(), st.just(a_summary())),
    left=st.one_of(
        st.none(),
        st.builds(
            Left,
            claimed=st.booleans(),
            created=st.booleans(),
            recorded=st.booleans(),
            denied=st.sampled_from([None, "quota"]),
            summary=st.one_of(st.none(), st.just(a_summary())),
        ),
    ),
    grading=st.one_of(
        st.none(),
        st.builds(
            Grading,
            round=st.integers(1, 2),
            done=st.booleans(),
            checks=st.lists(st.sampled_from(CheckVerdict), max_size=3).map(lambda v: checks(*v)),
            security=st.just(CLEAN),
        ),
    ),
    snapshot=st.booleans(),
)


@given(SEEN)
def test_whatever_is_seen_there_is_one_safe_step(seen: Seen) -> None:
    found = step(seen)
    if found.step is Step.CREATE:
        assert seen.pod is None
        assert seen.left == Left(claimed=False)
        assert not seen.created
        assert not seen.noted
    if found.step is Step.RECORD:
        # A second attempt may start from here on: the first pod is over, or given up for lost.
        assert seen.pod in (None, PodState.ENDED) or (seen.pod is PodState.LOST and seen.overdue)
        assert found.evidence is not None
        judge(found.evidence)
    if found.step is Step.GRADE:
        assert seen.snapshot
        assert found.round == 1 or (seen.grading is not None and found.round <= 2)


@pytest.mark.parametrize("found", [(), (PASS,), (PASS, FAIL)])
def test_a_grading_with_missing_repeats_is_never_a_pass(found: Sequence[CheckVerdict]) -> None:
    grading = Grading(round=2, done=True, checks=tuple[Check, ...](checks(*found)), security=CLEAN)
    recorded = step(Seen(pod=PodState.ENDED, summary=a_summary(), snapshot=True, grading=grading))
    assert recorded.evidence is not None
    assert judge(recorded.evidence).outcome is Outcome.FAIL


@pytest.mark.parametrize("pod", [PodState.WAITING, PodState.RUNNING, PodState.ENDED])
def test_two_pods_of_one_attempt_stop_everything_whatever_they_did(pod: PodState) -> None:
    seen = Seen(pod=pod, twins=("a", "b"), summary=a_summary(), snapshot=True, tainted=True)
    found = step(seen)
    assert found.step is Step.STALL
    assert "a and b" in found.why


def test_an_attempt_that_had_two_pods_ends_as_infra_and_is_never_graded() -> None:
    passed = graded(PASS, PASS, PASS)
    assert step(Seen(tainted=True, pod=PodState.RUNNING)).step is Step.END
    assert step(Seen(tainted=True, pod=PodState.ENDED)).step is Step.LOOK
    ended = step(
        Seen(
            tainted=True,
            pod=PodState.ENDED,
            summary=a_summary(),
            snapshot=True,
            left=Left(claimed=True),
            grading=passed,
        )
    )
    assert ended.step is Step.RECORD
    assert ended.evidence is not None
    judged = judge(ended.evidence)
    assert (judged.outcome, judged.cause) == (Outcome.FAIL, Cause.INFRA)
    assert Reason.MULTIPLE_PODS in judged.reasons
