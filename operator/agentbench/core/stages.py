"""Where a live attempt stands, in one word for people who watch a campaign."""

from enum import StrEnum

from agentbench.core.seen import PodState, Seen


class Stage(StrEnum):
    """A part of an attempt's life before its row."""

    PENDING = "pending"  # its agent has not started
    RUNNING = "running"
    LOST = "lost"  # its node is out of reach: it may still run
    GRADING = "grading"
    RECORDING = "recording"  # between grading and row, or with nothing to grade

    @property
    def over(self) -> bool:
        """Whether the agent is gone, and only the row is missing."""
        return self in (Stage.GRADING, Stage.RECORDING)


def stage_of(seen: Seen) -> Stage:
    """Where an attempt stands."""
    match seen.pod:
        case PodState.WAITING:
            return Stage.PENDING
        case PodState.RUNNING:
            return Stage.RUNNING
        case PodState.LOST:
            return Stage.LOST
    if seen.grading is not None and not seen.grading.done:
        return Stage.GRADING
    gone = seen.pod is PodState.ENDED or seen.created or seen.summary is not None
    return Stage.RECORDING if gone or seen.grading is not None else Stage.PENDING
