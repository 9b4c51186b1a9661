"""Where a live attempt stands follows from what is seen of it."""

from __future__ import annotations

import pytest
from tests.fakes.build import a_summary

from agentbench.core.seen import Grading, PodState, Seen
from agentbench.core.stages import Stage, stage_of

DONE, UNDER_WAY = Grading(round=1, done=True), Grading(round=1, done=False)


@pytest.mark.parametrize(
    ("seen", "stage"),
    [
        (Seen(), Stage.PENDING),
        (Seen(pod=PodState.WAITING, created=True), Stage.PENDING),
        (Seen(pod=PodState.RUNNING, created=True), Stage.RUNNING),
        (Seen(pod=PodState.LOST, created=True), Stage.LOST),
        (Seen(pod=PodState.ENDED, created=True), Stage.RECORDING),
        (Seen(pod=PodState.ENDED, created=True, grading=UNDER_WAY), Stage.GRADING),
        (Seen(grading=UNDER_WAY, summary=a_summary()), Stage.GRADING),
        (Seen(pod=PodState.ENDED, created=True, grading=DONE), Stage.RECORDING),
        (Seen(summary=a_summary()), Stage.RECORDING),
        (Seen(created=True), Stage.RECORDING),
    ],
)
def test_the_stage_of_an_attempt(seen: Seen, stage: Stage) -> None:
    assert stage_of(seen) is stage


def test_an_attempt_waits_for_its_row_once_its_agent_is_gone() -> None:
    assert {stage for stage in Stage if stage.over} == {Stage.GRADING, Stage.RECORDING}
