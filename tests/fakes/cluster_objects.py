"""Campaigns, runs and pods as an API server gives them."""

from typing import Any

UID = "0f0f0f0f-0000-4000-8000-000000000001"
CAMPAIGNS = "/apis/agentbench.dev/v1alpha1/namespaces/bench/benchmarkcampaigns"
RUNS = "/apis/agentbench.dev/v1alpha1/namespaces/bench/benchmarkruns"
PODS = "/api/v1/namespaces/bench/pods"


def a_campaign(
    phase: str = "Running", *, name: str = "tiny", stalled: str = "", **counts: int
) -> dict[str, Any]:
    """A campaign of two runs; `stalled` is the message of what a person must mend."""
    return {
        "apiVersion": "agentbench.dev/v1alpha1",
        "kind": "BenchmarkCampaign",
        "metadata": {
            "name": name, "namespace": "bench", "uid": UID, "generation": 1,
            "creationTimestamp": "2026-11-30T10:00:00Z", "resourceVersion": "7",
        },
        "spec": {
            "protocol": {"id": "TINY-1", "freeze": {"digest": "sha256:" + "a" * 64}},
            "parallelism": 2,
            "budget": {"totalUSD": "20"},
            "store": {"url": "s3://bucket/rows"},
        },
        "status": {
            "observedGeneration": 1,
            "phase": phase,
            "counts": {"total": 2, **counts},
            "spend": {"spentUSD": "0.5", "reservedUSD": "2"},
            "conditions": [
                {
                    "type": "Stalled", "status": "True" if stalled else "False",
                    "reason": "SecretMissing" if stalled else "Fine", "message": stalled,
                    "lastTransitionTime": "2026-11-30T10:00:00Z",
                }
            ],
        },
    }  # fmt: skip


def a_run(run: str = "T1-S1-A1-r1", version: str = "8", **attempt: Any) -> dict[str, Any]:
    """A run with one attempt, which `attempt` describes."""
    return {
        "metadata": {
            "name": run.lower(), "namespace": "bench", "uid": run, "resourceVersion": version,
        },
        "spec": {
            "campaignUid": UID, "run": run, "repeat": 1, "order": 0,
            "cell": {"task": "T1", "stack": "S1", "agent": "A1"},
        },
        "status": {
            "phase": attempt.get("phase", "Pending"),
            "attempts": [{"number": 1, "phase": "Pending", **attempt}],
        },
    }  # fmt: skip


def recorded(run: str = "T1-S1-A1-r1", version: str = "9") -> dict[str, Any]:
    """A run that passed."""
    return a_run(
        run, version, phase="Recorded", outcome="pass", costUSD="0.5", node="node-a",
        startedAt="2026-11-30T10:00:05Z", endedAt="2026-11-30T10:01:05Z",
        rowKey=f"tiny/rows/{run}/1.json",
    )  # fmt: skip


def a_pod(run: str = "T1-S1-A1-r1", *, waits: str = "", **status: Any) -> dict[str, Any]:
    """A run pod; `waits` is why its agent's container does not start."""
    waiting = {"reason": waits, "message": "back-off"} if waits else {"reason": "PodInitializing"}
    return {
        "metadata": {
            "name": run.lower(), "namespace": "bench", "uid": f"pod-{run}",
            "creationTimestamp": "2026-11-30T10:00:00Z",
            "labels": {"agentbench.dev/campaign": UID, "agentbench.dev/role": "run"},
            "annotations": {"agentbench.dev/run": run, "agentbench.dev/attempt": "1"},
        },
        "spec": {"nodeName": "node-a"},
        "status": {
            "phase": "Pending",
            "containerStatuses": [{"name": "agent", "state": {"waiting": waiting}}],
            **status,
        },
    }  # fmt: skip
