"""What GitOps tools make of an object's status: the rules of kstatus for a custom resource.

From sigs.k8s.io/cli-utils/pkg/kstatus: deletion, then the observed generation, then the first of
`Reconciling` and `Stalled` that is true, then `Ready`; an object that says nothing is current.
"""

from collections.abc import Mapping
from typing import Any


def kstatus(body: Mapping[str, Any]) -> str:
    """Current, InProgress, Failed or Terminating."""
    meta, status = body["metadata"], body.get("status") or {}
    if meta.get("deletionTimestamp"):
        return "Terminating"
    if "observedGeneration" in status and status["observedGeneration"] != meta["generation"]:
        return "InProgress"
    conditions = status.get("conditions", [])
    for condition in conditions:
        if condition["type"] == "Reconciling" and condition["status"] == "True":
            return "InProgress"
        if condition["type"] == "Stalled" and condition["status"] == "True":
            return "Failed"
    for condition in conditions:
        if condition["type"] == "Ready":
            return "Current" if condition["status"] == "True" else "InProgress"
    return "Current"
