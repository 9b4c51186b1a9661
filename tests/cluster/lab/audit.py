"""What the operator wrote, by the API server's own word: its audit log.

Only the operator's writes are logged, so the log costs the other tests nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from tests.cluster.lab.slot import Slot

OPERATOR = "system:serviceaccount:agent-bench-system:agent-bench"
_VERBS = ["create", "update", "patch", "delete", "deletecollection"]
_POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [
        {"level": "Metadata", "users": [OPERATOR], "verbs": _VERBS},
        {"level": "None"},
    ],
}


@dataclass(frozen=True)
class Write:
    """One write: its verb, resource with subresource, and the answer's status code."""

    verb: str
    resource: str
    name: str
    code: int


def flags(slot: Slot) -> list[str]:
    """The API server's flags; also writes the policy."""
    policy = slot.folder / "audit-policy.json"
    policy.write_text(json.dumps(_POLICY))
    return [
        f"--audit-policy-file={policy}",
        f"--audit-log-path={slot.folder / 'audit.log'}",
        "--audit-log-maxsize=500",
        "--audit-log-maxbackup=1",
    ]


def writes(slot: Slot, namespace: str) -> Iterator[Write]:
    """Every write of the operator to one namespace, refused ones included."""
    with (slot.folder / "audit.log").open() as log:
        for line in log:
            if not line.endswith("\n"):
                return  # it is being written
            entry = json.loads(line)
            where = entry.get("objectRef", {})
            if where.get("namespace") == namespace and entry["stage"] == "ResponseComplete":
                parts = (where["resource"], where.get("subresource", ""))
                yield Write(
                    entry["verb"],
                    "/".join(part for part in parts if part),
                    where.get("name", ""),
                    entry["responseStatus"]["code"],
                )
