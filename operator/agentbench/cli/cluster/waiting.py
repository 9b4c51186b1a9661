"""Where a campaign's pods are, and what keeps them from starting."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from agentbench.cli.cluster.connection import Connection
from agentbench.cli.cluster.views import utc_now
from agentbench.kube.faults import waiting
from agentbench.kube.names import CAMPAIGN_LABEL
from agentbench.kube.view import PodView, pod_view

PATIENCE = 10.0
"""Seconds that a pod may take to start before it is worth a word."""
LIVE = "status.phase!=Succeeded,status.phase!=Failed"


@dataclass(frozen=True, slots=True)
class PodLine:
    """One pod of a campaign in short; `why` says what it waits for."""

    run: str
    attempt: int
    role: str
    pod: str
    node: str
    phase: str
    why: str
    created: datetime


def pods_of(connection: Connection, campaign_uid: str, *, live: bool = True) -> list[PodView]:
    """The pods of a campaign; those alone that have not ended."""
    found = connection.list(
        "pods", labels=f"{CAMPAIGN_LABEL}={campaign_uid}", fields=LIVE if live else ""
    )
    return [pod_view(raw) for raw in found.items]


def line_of(pod: PodView, now: datetime) -> PodLine:
    """A pod in short."""
    return PodLine(
        run=pod.run,
        attempt=pod.attempt,
        role=pod.role,
        pod=pod.name,
        node=pod.node,
        phase="Terminating" if pod.deleting else pod.phase,
        why=why_of(pod, now),
        created=pod.created,
    )


def why_of(pod: PodView, now: datetime) -> str:
    """What a pod waits for, empty if it does not wait, or has not for long."""
    if pod.phase != "Pending" or pod.deleting:
        return ""
    found = waiting(pod, now)
    if found is None or found.seconds < PATIENCE or _starting(pod):
        return ""
    return f"{found.reason}: {found.detail}"


def _starting(pod: PodView) -> bool:
    """Whether a pod is on its node, and nothing keeps its containers from starting."""
    kept = [
        view
        for view in pod.containers.values()
        if view.waiting_reason not in ("", "PodInitializing", "ContainerCreating")
    ]
    return bool(pod.node) and not kept


def waits_of(connection: Connection, campaign_uid: str) -> Iterator[tuple[str, int, str]]:
    """Run, attempt and reason of every pod that waits."""
    now = utc_now()
    for pod in pods_of(connection, campaign_uid):
        why = why_of(pod, now)
        if why:
            yield pod.run, pod.attempt, why
