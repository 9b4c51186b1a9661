"""What keeps a user from a cluster, in words that say what to do."""

import json
from collections.abc import Mapping
from typing import Any

from agentbench.kube.errors import (
    ClusterError,
    Denied,
    Invalid,
    Missing,
    QuotaDenied,
    Retry,
    Stale,
    Taken,
)

INSTALL = "Install the chart: docs/kubernetes.md, or say --context if this is the wrong cluster."
NEWER = "agent-bench crd | kubectl apply --server-side -f -"


class BadCluster(ValueError):
    """A cluster, a context or an object that the user named cannot be used as it was named."""


class NotInstalled(BadCluster):
    """The cluster does not know campaigns: agent-bench is not installed there."""


class FieldConflict(ClusterError):
    """Others have set fields to other values; `fields` names them, as in `.spec.parallelism`."""

    def __init__(self, message: str, fields: tuple[str, ...]) -> None:
        super().__init__(message)
        self.fields = fields


def refusal(where: str, status: int, body: str) -> ClusterError | BadCluster:
    """What an answer of the API server means for the one who asked."""
    said = _status(body)
    message = str(said.get("message") or body[:500])
    reason = str(said.get("reason", ""))
    if status == 401:
        return Denied(f"the cluster does not know you ({where}): log in to it again")
    if status == 403:
        if "exceeded quota" in message:
            return QuotaDenied(message)
        return Denied(f"{message}. Ask for this right: docs/kubernetes.md lists what people need")
    if status == 404:
        if "the server could not find the requested resource" in message or not said:
            return NotInstalled(f"the cluster has no agent-bench ({where}). {INSTALL}")
        return Missing(message)
    if status == 410:
        return Stale(message)
    if status == 409:
        fields = _conflicts(said)
        if fields:
            return FieldConflict(message, fields)
        return Taken(message) if reason == "AlreadyExists" else Stale(message)
    if status in (400, 413, 422):
        older = "unknown field" in message
        cure = f". The definitions there are older than this agent-bench: {NEWER}" if older else ""
        return Invalid(f"{message}{cure}")
    return Retry(f"{where}: {message} ({status})", after=10 if status == 429 else 5)


def _status(body: str) -> Mapping[str, Any]:
    try:
        said = json.loads(body)
    except ValueError:
        return {}
    return said if isinstance(said, dict) and said.get("kind") == "Status" else {}


def _conflicts(said: Mapping[str, Any]) -> tuple[str, ...]:
    causes = (said.get("details") or {}).get("causes") or ()
    return tuple(
        str(cause.get("field", ""))
        for cause in causes
        if cause.get("reason") == "FieldManagerConflict"
    )
