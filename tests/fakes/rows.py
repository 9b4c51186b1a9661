"""Rows, adjudications and frozen choices as JSON, for tests: small, valid, and easy to bend."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from agentbench_analysis.campaign import spec_from_campaign
from agentbench_analysis.spec import AnalysisSpec

DIGEST = "sha256:" + "d" * 64
CAMPAIGN = "ab-proto-1"
STACKS = {"AB-S1": "Arki", "AB-S2": "T3", "AB-S3": "Laravel"}
AGENTS = {"AB-A1": "Claude Code", "AB-A2": "Codex CLI"}

Document = tuple[str, bytes]


def a_campaign(**changes: Any) -> dict[str, Any]:
    """The spec of AB-PROTO-1 as its manifest has it; `analysis` is merged, the rest replaced."""
    analysis = {
        "resamples": 10_000,
        "seed": 7,
        "confidence": "0.95",
        "margins": {"passRate": "-0.10", "cost": "0.85", "time": "1.00"},
        "bestOther": "perResample",
        "quantile": "linear",
        "referenceStack": "AB-S1",
    }
    analysis |= changes.pop("analysis", {})
    return {
        "protocol": {"id": "AB-PROTO-1", "freeze": {"digest": DIGEST}},
        "tasks": [{"id": f"AB-T0{n}", "name": f"Task {n}"} for n in range(1, 7)],
        "stacks": [{"id": ident, "name": name} for ident, name in STACKS.items()],
        "agents": [{"id": ident, "name": name} for ident, name in AGENTS.items()],
        "repeats": 5,
        "caps": {"wall": "45m", "costUSD": "5", "toolCalls": 400, "interventions": 3},
        "budget": {"totalUSD": "900"},
        "analysis": analysis,
        **changes,
    }


def a_spec(**changes: Any) -> AnalysisSpec:
    """The frozen choices of AB-PROTO-1."""
    return spec_from_campaign(a_campaign(**changes), campaign=CAMPAIGN)


def measured(value: float | str) -> dict[str, Any]:
    """A measured metric."""
    return {"value": value, "availability": "measured", "reason": None}


def not_measured(reason: str) -> dict[str, Any]:
    """An unavailable metric."""
    return {"value": None, "availability": "unavailable", "reason": reason}


def a_row(
    task: str = "AB-T01",
    stack: str = "AB-S1",
    agent: str = "AB-A1",
    repeat: int = 1,
    *,
    passed: bool = True,
    cost: str | None = "1.25",
    seconds: float | None = 600.0,
    **changes: Any,
) -> dict[str, Any]:
    """One valid row as JSON data; `metrics` is merged, every other field replaced."""
    short = "-".join(ident.removeprefix("AB-") for ident in (task, stack, agent))
    metrics = {
        "cost_usd": not_measured("no usage in the stream") if cost is None else measured(cost),
        "agent_seconds": not_measured("clock lost") if seconds is None else measured(seconds),
        "tool_calls": measured(40),
        "interventions": measured(0),
        "repair_rounds": measured(2),
        "input_uncached": measured(20_000),
        "cache_read": measured(400_000),
        "output": measured(9_000),
    }
    metrics |= changes.pop("metrics", {})
    verdict = "pass" if passed else "fail"
    row = {
        "schema": "agentbench.row/v1",
        "campaign": CAMPAIGN,
        "protocol": "AB-PROTO-1",
        "digest": DIGEST,
        "draft": False,
        "phase": "sample",
        "run": f"AB-{short}-r{repeat}",
        "attempt": 1,
        "order": 0,
        "repeat": repeat,
        "cell": {"task": task, "stack": stack, "agent": agent, "plugins": []},
        "outcome": verdict,
        "cause": None if passed else "task",
        "reasons": [] if passed else ["CheckFailed"],
        "evidence": [],
        "startedAt": "2026-11-02T08:00:00Z",
        "endedAt": "2026-11-02T08:10:00Z",
        "caps": {"wallSeconds": 2700, "costUsd": "5", "toolCalls": 400, "interventions": 3},
        "capsHit": [],
        "metrics": metrics,
        "checks": [
            {
                "repeat": each,
                "verdict": verdict,
                "exitCode": 0 if passed else 1,
                "seconds": 12.5,
                "reason": None,
                "asserts": [{"id": "login", "ok": passed, "detail": ""}],
            }
            for each in (1, 2, 3)
        ],
        "security": {"ran": True, "flags": [], "reason": None},
        "artifacts": {},
        "versions": {},
        "environment": {},
        "deniedEgress": [],
        "notes": [],
    }
    return row | changes


def a_flag(kind: str = "cross-tenant", assertion: str = "notes-tenant") -> dict[str, Any]:
    """A security check with one critical flag."""
    return {
        "ran": True,
        "flags": [{"kind": kind, "assertion": assertion, "detail": "row of another tenant read"}],
        "reason": None,
    }


def an_adjudication(run: str, cause: str | None, **changes: Any) -> dict[str, Any]:
    """One adjudication as JSON data."""
    return {
        "schema": "agentbench.adjudication/v1",
        "campaign": CAMPAIGN,
        "run": run,
        "attempt": 1,
        "seq": 1,
        "cause": cause,
        "security": None,
        "by": "reader",
        "at": "2026-11-20T09:00:00Z",
        "reason": "read the trace",
    } | changes


def row_document(row: Mapping[str, Any]) -> Document:
    """A row as the store hands it out."""
    name = f"{row['campaign']}/rows/{row['run']}/{row['attempt']}.json"
    return name, json.dumps(row, separators=(",", ":")).encode()


def row_documents(rows: Iterable[Mapping[str, Any]]) -> list[Document]:
    """Rows as the store hands them out."""
    return [row_document(row) for row in rows]


def adjudication_documents(entries: Iterable[Mapping[str, Any]]) -> list[Document]:
    """Adjudications as the store hands them out."""
    return [
        (
            f"{each['campaign']}/adjudications/{each['run']}/{each['seq']}.json",
            json.dumps(each).encode(),
        )
        for each in entries
    ]


def full_rows(passes: Mapping[str, int] | None = None, **changes: Any) -> list[dict[str, Any]]:
    """All 180 rows of AB-PROTO-1: in every cell of a stack, so many of five runs pass."""
    wanted = passes or {"AB-S1": 4, "AB-S2": 4, "AB-S3": 4}
    return [
        a_row(f"AB-T0{task}", stack, agent, repeat, passed=repeat <= count, **changes)
        for task in range(1, 7)
        for stack, count in wanted.items()
        for agent in AGENTS
        for repeat in range(1, 6)
    ]
