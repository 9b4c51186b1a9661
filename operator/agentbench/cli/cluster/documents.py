"""Runs and pods on a cluster as JSON values."""

from typing import Any

from agentbench.cli.cluster.views import RunView
from agentbench.cli.cluster.waiting import PodLine


def run_document(run: RunView) -> dict[str, Any]:
    """A run as JSON values."""
    return {
        "run": run.run,
        "object": run.name,
        "namespace": run.namespace,
        "task": run.task,
        "stack": run.stack,
        "agent": run.agent,
        "plugins": list(run.plugins),
        "order": run.order,
        "repeat": run.repeat,
        "phase": run.phase,
        "attempts": [
            {
                "attempt": each.number,
                "phase": each.phase,
                "pod": each.pod or None,
                "node": each.node or None,
                "startedAt": each.started or None,
                "endedAt": each.ended or None,
                "costUSD": each.cost,
                "toolCalls": each.tool_calls,
                "outcome": each.outcome or None,
                "cause": each.cause or None,
                "reason": each.reason or None,
                "row": each.row or None,
            }
            for each in run.attempts
        ],
    }


def pod_document(each: PodLine) -> dict[str, Any]:
    """A pod as JSON values."""
    return {
        "run": each.run,
        "attempt": each.attempt,
        "role": each.role,
        "pod": each.pod,
        "node": each.node or None,
        "phase": each.phase,
        "waitsFor": each.why or None,
    }
