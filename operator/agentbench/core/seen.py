"""What is seen of one attempt on a cluster at one instant; its next step is chosen from it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from agentbench.core.failure import Fault
from agentbench.core.reasons import Reason
from agentbench.core.summary import Summary
from agentbench_analysis.rows.model import Check, Security
from agentbench_analysis.rows.words import CheckVerdict

NOT_RUN = Security(ran=False, reason="not run")


class PodState(StrEnum):
    """Where a run pod stands."""

    WAITING = "Waiting"  # not all of its containers have started
    RUNNING = "Running"
    LOST = "Lost"  # its node is out of reach: it may still run, and still spend
    ENDED = "Ended"  # every container is gone, and the pod says how


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """What keeps a pod from starting, and for how many seconds it has."""

    reason: Reason
    seconds: float
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """What a pod that is gone left in the store.

    `created` is the operator's mark that there was a pod (with its uid in `pod_uid`), `denied` its
    mark that there never will be one, and why; `claimed` is the warden's that an agent was about
    to start; `recorded` tells that the row is there already.
    """

    claimed: bool
    created: bool = False
    pod_uid: str | None = None
    denied: str | None = None
    summary: Summary | None = None
    disowned: bool = False
    """Whether this campaign started it for a run object that somebody has deleted since."""
    recorded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Grading:
    """One round of grading: how far it is, and what it found."""

    round: int
    done: bool
    checks: Sequence[Check] = ()
    security: Security = NOT_RUN
    records: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    """What was stored of each execution: sha256 and size by name."""

    @property
    def judged(self) -> bool:
        """Whether every check and the security check could judge.

        An app that does not start is a judgement, and grading it again would find no other.
        """
        clear = all(check.verdict is not CheckVerdict.ERROR for check in self.checks)
        security = self.security.ran or self.security.reason == Reason.APP_NOT_STARTED
        return bool(self.checks) and clear and security


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """All that is known of an attempt at one instant.

    `pod` is None where there is none of its name. `left` is None until the store was asked, after
    the pod was seen for the last time. `faults` are what the pod and its node tell now, `noted`
    is what was written down before the pod was ended; `summary` is the warden's.
    """

    pod: PodState | None = None
    created: bool = False  # the pod's uid is known from before: it did exist
    waiting: Waiting | None = None
    hanging: float = 0  # seconds for which its agent is gone, and its pod has not ended
    overdue: bool = False  # its wall cap has passed on our clock, and nothing is heard of it
    faults: Sequence[Fault] = ()
    noted: Sequence[Fault] = ()
    summary: Summary | None = None
    left: Left | None = None
    grading: Grading | None = None
    snapshot: bool = False
    twins: Sequence[str] = ()  # names of the attempt's pods, where there is more than one
    tainted: bool = False  # it had two pods: what either did is not scored
