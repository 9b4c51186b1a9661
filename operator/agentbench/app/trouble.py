"""What goes wrong with one run: who must act, and when it is looked at again."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from agentbench.app.campaign import Refused
from agentbench.app.pack import BundleError
from agentbench.core.publication import PublicationError
from agentbench.kube.errors import ClusterError, Retry

REST = timedelta(seconds=15)
"""Time between two looks at what only a person can mend."""


class NameConflict(RuntimeError):
    """An object of ours has a name that a foreign object holds; it is left alone."""


class RowConflict(RuntimeError):
    """The store holds another row under an attempt's key; neither is changed."""


class SecondPod(RuntimeError):
    """An attempt had a pod before this one; this one must go."""


class MultiplePods(RuntimeError):
    """An attempt has two pods that are ours; neither is scored."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something that needs a person: a reason code, a message with the cure, and the next look."""

    reason: str
    message: str
    again: datetime


def trouble_of(run: str, error: BaseException, now: datetime) -> Trouble | None:
    """The trouble that an error means for a run; None if it passes by itself, or is a bug."""
    reason = _reason(error)
    return Trouble(reason, f"{run}: {error}", now + REST) if reason else None


def _reason(error: BaseException) -> str:
    if isinstance(error, Retry):
        return ""
    if isinstance(error, Refused):
        return error.reason
    if isinstance(error, BundleError):
        return "BundleMismatch"
    known = (NameConflict, RowConflict, MultiplePods, PublicationError, ClusterError)
    return type(error).__name__ if isinstance(error, known) else ""
