"""Whole custom resources, every field set: what rules about fields are tried on."""

import copy
from typing import Any

SHA = "sha256:" + "a" * 64
IMAGE = "images.example/app@" + SHA
AT = "2026-10-14T08:00:00Z"


def amendment(seq: int, change: str = "raised") -> dict[str, Any]:
    """One amendment as people write it."""
    return {
        "seq": seq,
        "date": "2026-10-14",
        "change": change,
        "why": "because",
        "anyRunStarted": False,
        "effects": "none",
    }


def adjudication(seq: int, reason: str = "the provider was down") -> dict[str, Any]:
    """One adjudication as people write it."""
    return {
        "seq": seq,
        "attempt": 1,
        "cause": "infra",
        "by": "judge@example.org",
        "at": AT,
        "reason": reason,
    }


_COMMAND = {"run": "make app", "timeout": "5m"}

_CAMPAIGN: dict[str, Any] = {
    "apiVersion": "agentbench.dev/v1alpha1",
    "kind": "BenchmarkCampaign",
    "metadata": {"name": "demo"},
    "spec": {
        "protocol": {
            "id": "AB-PROTO-9",
            "title": "A protocol",
            "draft": False,
            "text": "protocol.md",
            "freeze": {"digest": SHA, "commit": "abcdef1", "frozenAt": AT},
            "bundle": {"url": "s3://bucket/prefix", "sha256": SHA},
            "amendments": [amendment(1), amendment(2, "lowered")],
            "harnessAuthors": ["author@example.org"],
            "openItems": [{"id": "O1", "text": "open", "blocksFreeze": False}],
            "locks": ["locks/s1.json"],
        },
        "tasks": [
            {
                "id": f"AB-T0{n}",
                "name": "Notes",
                "prompt": {"path": "tasks/t.md", "sha256": SHA},
                "check": {"path": "checks/t.sh", "sha256": SHA},
                "seeds": {"AB-S1": {"path": "seeds/s1", "sha256": SHA}},
                "solutions": {"AB-S1": {"path": "solutions/s1", "sha256": SHA}},
                "mutants": [{"path": "mutants/m", "stack": "AB-S1", "fails": "other-tenant"}],
                "timeout": "5m",
            }
            for n in (1, 2)
        ],
        "stacks": [
            {
                "id": f"AB-S{n}",
                "name": "Stack",
                "image": IMAGE,
                "setup": _COMMAND,
                "start": _COMMAND,
                "services": [{"name": "db", "kind": "postgres", "env": {"DATABASE_URL": "{url}"}}],
                "env": {"MODE": "test"},
            }
            for n in (1, 2)
        ],
        "agents": [
            {
                "id": f"AB-A{n}",
                "name": "Agent",
                "adapter": "claude-code",
                "model": "model-1",
                "provider": {"api": "anthropic", "keyEnv": "KEY"},
                "settings": {"effort": "high"},
                "images": {"AB-S1": IMAGE},
            }
            for n in (1, 2)
        ],
        "plugins": [
            {"id": f"P{n}", "name": "Plugin", "path": {"path": "plugins/p"}} for n in (1, 2)
        ],
        "repeats": 5,
        "order": {"seed": 7},
        "caps": {"wall": "45m", "costUSD": "5", "toolCalls": 400, "interventions": 3},
        "script": {"reply": "Use your best judgement."},
        "budget": {"totalUSD": "900"},
        "calibration": {"repeats": 1},
        "checks": {"repeats": 3, "timeout": "10m", "security": {"path": "checks/security.sh"}},
        "analysis": {
            "resamples": 1000,
            "seed": 3,
            "confidence": "0.95",
            "referenceStack": "AB-S1",
            "hypotheses": [{"id": "H1", "text": "as good", "rule": "pass-rate"}],
            "claims": [{"id": "C1", "text": "as good", "needs": ["H1"]}],
        },
        "prices": "locks/prices.json",
        "nodeClass": {"selector": {"pool": "bench"}, "runtimeClassName": "gvisor"},
        "egress": {"agent": ["packages.example"], "model": ["model.example"]},
        "store": {"url": "s3://bucket/prefix", "secretRef": "store"},
        "parallelism": 4,
        "suspend": False,
        "cancel": False,
        "ttlAfterRecorded": "1h",
        "keepFailedPods": 2,
    },
}

_RUN: dict[str, Any] = {
    "apiVersion": "agentbench.dev/v1alpha1",
    "kind": "BenchmarkRun",
    "metadata": {"name": "demo-1"},
    "spec": {
        "campaignUid": "0b9d7d7e",
        "run": "AB-T01-S1-A1-r1",
        "cell": {"task": "AB-T01", "stack": "AB-S1", "agent": "AB-A1", "plugins": ["P1"]},
        "repeat": 1,
        "order": 0,
        "phase": "sample",
        "adjudications": [adjudication(1), adjudication(2, "so it stays")],
    },
}


def a_frozen_campaign() -> dict[str, Any]:
    """A frozen BenchmarkCampaign with every field set."""
    return copy.deepcopy(_CAMPAIGN)


def a_draft_campaign() -> dict[str, Any]:
    """The same as a draft: no freeze, no bundle."""
    campaign = a_frozen_campaign()
    campaign["spec"]["protocol"]["draft"] = True
    del campaign["spec"]["protocol"]["freeze"], campaign["spec"]["protocol"]["bundle"]
    return campaign


def a_run_object() -> dict[str, Any]:
    """A BenchmarkRun with every field set."""
    return copy.deepcopy(_RUN)
