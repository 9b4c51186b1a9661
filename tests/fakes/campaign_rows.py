"""A made-up campaign with every kind of run: rows, adjudications and artifacts, as stored.

Nothing here was measured. Whoever shows it says so.
"""

import json
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

from tests.fakes.campaign_spec import (
    AGENTS,
    CAMPAIGN,
    COSTS,
    DIGEST,
    HARDNESS,
    RATES,
    STACKS,
    TASKS,
    campaign_spec,
)
from tests.fakes.trajectories import diff, trajectory

from agentbench_analysis.campaign import spec_from_campaign
from agentbench_analysis.spec import AnalysisSpec

START = datetime(2026, 10, 20, 8, 0, tzinfo=UTC)


@dataclass
class FakeCampaign:
    """Everything that a store would hold of the campaign."""

    spec: AnalysisSpec
    source: dict[str, Any]
    rows: dict[str, bytes] = field(default_factory=dict)
    adjudications: dict[str, bytes] = field(default_factory=dict)
    artifacts: dict[str, bytes] = field(default_factory=dict)

    def open(self, key: str) -> Iterator[bytes] | None:
        """The bytes under a key in chunks, as a store gives them."""
        data = self.rows.get(key) or self.artifacts.get(key)
        if data is None:
            return None
        return (data[at : at + 65_536] for at in range(0, len(data), 65_536))


def fake_campaign(repeats: int = 5, seed: int = 11, traces: int | None = None) -> FakeCampaign:
    """Build the campaign; `traces` bounds how many different traces are made and then shared."""
    source = campaign_spec(repeats)
    chance = random.Random(seed)
    made = FakeCampaign(spec_from_campaign(source, campaign=CAMPAIGN), source)
    runs = [
        (task, stack, agent, repeat)
        for task, _ in TASKS
        for stack, _ in STACKS
        for agent, *_ in AGENTS
        for repeat in range(1, repeats + 1)
    ]
    chance.shuffle(runs)
    clock = START
    shared: list[bytes] = []
    for order, (task, stack, agent, repeat) in enumerate(runs):
        run = f"{task}-{stack[3:]}-{agent[3:]}-r{repeat}"
        row = _row(chance, run, order, (task, stack, agent), repeat, clock)
        if order == 40:
            lost = _row(chance, run, order, (task, stack, agent), repeat, clock)
            _lose(lost)
            _store(made, lost, shared, traces)
            _judge(made, run, "infra", "The node went away: the cluster's events say so.")
            row["attempt"] = 2
        if order == 50:
            row["metrics"]["cost_usd"] = _unknown("the provider's stream was cut")
        if order == 60:
            continue  # an incomplete cell
        _store(made, row, shared, traces)
        if row["outcome"] == "fail" and order % 9:
            flags = [flag["assertion"] for flag in row["security"]["flags"]]
            _judge(made, run, row["cause"], "Read the trace: the row is right.", flags)
        clock += timedelta(minutes=chance.uniform(3, 14))
    return made


def _row(
    chance: random.Random,
    run: str,
    order: int,
    cell: tuple[str, str, str],
    repeat: int,
    clock: datetime,
) -> dict[str, Any]:
    task, stack, agent = cell
    passed = chance.random() < RATES[stack] + HARDNESS[task]
    cost = min(5.4, COSTS[stack] * math.exp(chance.gauss(0, 0.42)) * (1 if passed else 1.5))
    seconds = min(2700.0, cost * chance.uniform(420, 640))
    calls = int(min(400, 18 + seconds / chance.uniform(9, 14)))
    asked = chance.choices((0, 1, 2), (8, 2, 1))[0]
    cause, reasons, caps = None, [], []
    if not passed:
        kind = chance.choices(("task", "cap", "security"), (6, 3, 1))[0]
        cause, reasons = kind, {"task": ["CheckFailed"], "security": ["CheckFailed"]}.get(kind, [])
        if kind == "cap":
            cost, reasons, caps = 5.0 + chance.uniform(0.01, 0.2), ["CapCost"], ["cost"]
    flags = (
        [{"kind": "cross-tenant", "assertion": "tenant-read", "detail": "user B read A's note"}]
        if cause == "security" and stack != "AB-S1"
        else []
    )
    if cause == "security" and not flags:
        cause = "task"
    verdict = "pass" if passed else "fail"
    return {
        "schema": "agentbench.row/v1",
        "campaign": CAMPAIGN,
        "protocol": "AB-PROTO-1",
        "digest": DIGEST,
        "draft": False,
        "phase": "sample",
        "run": run,
        "attempt": 1,
        "order": order,
        "repeat": repeat,
        "cell": {"task": task, "stack": stack, "agent": agent},
        "outcome": verdict,
        "cause": cause,
        "reasons": reasons,
        "evidence": ["the check exited 1 on 3 of 3 repeats"] if "CheckFailed" in reasons else [],
        "startedAt": _time(clock),
        "endedAt": _time(clock + timedelta(seconds=seconds + 95)),
        "caps": {"wallSeconds": 2700, "costUsd": "5", "toolCalls": 400, "interventions": 3},
        "capsHit": caps,
        "metrics": _metrics(chance, cost, seconds, calls, asked),
        "checks": [] if caps else [_check(number, verdict) for number in (1, 2, 3)],
        "security": {"ran": True, "flags": flags},
        "artifacts": {},
        "versions": {"agent": "2.1.90" if agent == "AB-A1" else "0.161.0", "stack": "pinned"},
        "environment": {"kernel": "6.1.0-31-amd64", "nodeClass": "bench-4x16", "image": DIGEST},
        "deniedEgress": ["telemetry.example.com:443, 3 times"] if order % 17 == 0 else [],
        "notes": [],
    }


def _metrics(
    chance: random.Random, cost: float, seconds: float, calls: int, asked: int
) -> dict[str, Any]:
    fresh = int(cost * 41_000)
    return {
        "cost_usd": {"value": f"{cost:.6f}", "availability": "measured"},
        "agent_seconds": {"value": round(seconds, 3), "availability": "measured"},
        "setup_seconds": {"value": round(chance.uniform(20, 80), 2), "availability": "measured"},
        "tool_calls": {"value": calls, "availability": "measured"},
        "interventions": {"value": asked, "availability": "measured"},
        "input_uncached": {"value": fresh, "availability": "measured"},
        "cache_read": {"value": fresh * 11, "availability": "measured"},
        "cache_write_5m": {"value": fresh // 2, "availability": "measured"},
        "cache_write_1h": _unknown("not asked for"),
        "output": {"value": int(cost * 9_000), "availability": "measured"},
        "reasoning": _unknown("the provider does not report it apart"),
        "repair_rounds": {
            "value": chance.randint(0, 6),
            "availability": "derived",
            "reason": "counted from repeated commands in the trace",
        },
    }


def _unknown(reason: str) -> dict[str, Any]:
    return {"value": None, "availability": "unavailable", "reason": reason}


def _check(number: int, verdict: str) -> dict[str, Any]:
    asserts = [
        {"id": "create", "ok": True, "detail": "201 for user A"},
        {
            "id": "own-rows-only",
            "ok": verdict == "pass",
            "detail": "user B got 200, wanted 403 or 404",
        },
        {"id": "migration-on-empty", "ok": True, "detail": ""},
    ]
    if verdict == "pass":
        asserts[1]["detail"] = "user B got 404"
    return {
        "repeat": number,
        "verdict": verdict,
        "exitCode": 0 if verdict == "pass" else 1,
        "seconds": 21.5 + number,
        "asserts": asserts,
    }


def _lose(row: dict[str, Any]) -> None:
    row |= {
        "outcome": "fail",
        "cause": "infra",
        "reasons": ["NodeLost"],
        "evidence": ["node bench-3 was not ready for 5 minutes"],
        "checks": [],
        "security": {"ran": False, "flags": [], "reason": "there was no final state"},
        "capsHit": [],
    }


def _store(
    made: FakeCampaign, row: dict[str, Any], shared: list[bytes], traces: int | None
) -> None:
    run, attempt = row["run"], row["attempt"]
    folder = f"{CAMPAIGN}/artifacts/{run}/{attempt}"
    if traces is None or len(shared) < traces:
        shared.append(trajectory(random.Random(run), row))
    trace = shared[-1] if traces is None else shared[row["order"] % len(shared)]
    patch = diff(random.Random(run), row["cell"]["stack"])
    for name, data in (("trajectory.json", trace), ("final.diff", patch)):
        made.artifacts[f"{folder}/{name}"] = data
        row["artifacts"][name] = {
            "key": f"{folder}/{name}",
            "sha256": "sha256:" + sha256(data).hexdigest(),
            "size": len(data),
        }
    row["artifacts"]["final.tar.zst"] = {
        "key": f"{folder}/final.tar.zst",
        "sha256": "sha256:" + "0" * 64,
        "size": 0,
        "withheld": "a secret was found in it",
    }
    made.rows[f"{CAMPAIGN}/rows/{run}/{attempt}.json"] = json.dumps(row).encode()


def _judge(
    made: FakeCampaign, run: str, cause: str, reason: str, flags: list[str] | None = None
) -> None:
    made.adjudications[f"{CAMPAIGN}/adjudications/{run}/1.json"] = json.dumps(
        {
            "schema": "agentbench.adjudication/v1",
            "campaign": CAMPAIGN,
            "run": run,
            "attempt": 1,
            "seq": 1,
            "cause": cause,
            "security": flags or None,
            "by": "an independent reader",
            "at": "2026-11-02T10:00:00Z",
            "reason": reason,
        }
    ).encode()


def _time(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")
