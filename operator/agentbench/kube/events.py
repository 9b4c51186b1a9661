"""Kubernetes Events: one transition each, under a name that follows from what it tells."""

from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256

from agentbench.kube.manifests.parts import Manifest
from agentbench.kube.names import GROUP

COMPONENT = "agent-bench"
MAX_NOTE = 1024  # characters that the API server takes of a message


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """The object that an event is about."""

    kind: str
    namespace: str
    name: str
    uid: str


def event(
    about: About, reason: str, message: str, *, warning: bool, at: datetime, since: str = ""
) -> Manifest:
    """An event; telling the same transition of the same object again gives the same name.

    `since` tells apart transitions that read the same: the time at which each began.
    """
    mark = sha256(f"{about.uid}/{reason}/{message}/{since}".encode()).hexdigest()[:16]
    time = at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{about.name[:200]}.{mark}", "namespace": about.namespace},
        "involvedObject": {
            "apiVersion": f"{GROUP}/v1alpha1",
            "kind": about.kind,
            "namespace": about.namespace,
            "name": about.name,
            "uid": about.uid,
        },
        "reason": reason,
        "message": message[:MAX_NOTE],
        "type": "Warning" if warning else "Normal",
        "source": {"component": COMPONENT},
        "reportingComponent": COMPONENT,
        "firstTimestamp": time,
        "lastTimestamp": time,
        "count": 1,
    }
