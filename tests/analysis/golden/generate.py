"""Write the golden campaign: 180 runs with every awkward case, and what they must give.

    python -m tests.analysis.golden.generate

writes `campaign.json`, `rows.jsonl`, `adjudications.jsonl` and everything under `published/`.
Look at every changed table before you commit it: they were reviewed by hand.
"""

import json
from pathlib import Path
from random import Random
from typing import Any

from tests.fakes.rows import (
    CAMPAIGN,
    a_campaign,
    a_flag,
    a_row,
    adjudication_documents,
    an_adjudication,
    measured,
    not_measured,
    row_documents,
)

from agentbench_analysis.campaign import spec_from_campaign
from agentbench_analysis.facade import analyse, files

HERE = Path(__file__).parent
TASKS = ("AB-T01", "AB-T02", "AB-T03")
AGENTS = ("AB-A1", "AB-A2", "AB-A3")
PASSES = {
    # Passes of five, agent by agent within task by task: 34, 30, 30 and 0 of 45.
    "AB-S1": (5, 4, 3, 3, 2, 3, 4, 5, 5),
    "AB-S2": (5, 3, 3, 0, 4, 4, 4, 4, 3),
    "AB-S3": (4, 4, 3, 3, 4, 3, 5, 1, 3),
    "AB-S4": (0,) * 9,
}
MEDIAN_COST = {"AB-S1": 0.95, "AB-S2": 1.45, "AB-S3": 1.60, "AB-S4": 2.10}
MEDIAN_TIME = {"AB-S1": 640.0, "AB-S2": 700.0, "AB-S3": 655.0, "AB-S4": 900.0}


def campaign() -> dict[str, Any]:
    """Three tasks, four stacks, three agents, five repeats; one amendment after runs began."""
    spec = a_campaign(
        tasks=[
            {"id": "AB-T01", "name": "Scaffold and deploy"},
            {"id": "AB-T02", "name": "Tenant-scoped notes"},
            {"id": "AB-T03", "name": "Durable job"},
        ],
        stacks=[
            {"id": "AB-S1", "name": "Arki"},
            {"id": "AB-S2", "name": "T3"},
            {"id": "AB-S3", "name": "Laravel"},
            {"id": "AB-S4", "name": "Bare"},
        ],
        agents=[
            {"id": "AB-A1", "name": "Claude Code"},
            {"id": "AB-A2", "name": "Codex CLI"},
            {"id": "AB-A3", "name": "Scripted"},
        ],
    )
    spec["protocol"] |= {
        "harnessAuthors": ["builder"],
        "amendments": [
            {
                "seq": 1,
                "date": "2026-11-05",
                "change": "The cost margin is 0.97.",
                "why": "The price list changed.",
                "anyRunStarted": True,
                "effects": "set analysis.margins.cost = 0.97",
            }
        ],
    }
    return spec


def rows() -> list[dict[str, Any]]:
    """All rows, in the order of the store's keys."""
    source = Random(20261101)
    found: dict[tuple[str, int], dict[str, Any]] = {}
    for stack, passes in PASSES.items():
        for place, count in enumerate(passes):
            task, agent = TASKS[place // 3], AGENTS[place % 3]
            for repeat in range(1, 6):
                row = _plain(source, task, stack, agent, repeat, repeat <= count)
                found[row["run"], 1] = row
    order = list(range(len(found)))
    source.shuffle(order)
    for row, place in zip(found.values(), order, strict=True):
        row["order"] = place
    _awkward(found)
    return [found[key] for key in sorted(found)]


def _plain(
    source: Random, task: str, stack: str, agent: str, repeat: int, passed: bool
) -> dict[str, Any]:
    cost = min(4.99, MEDIAN_COST[stack] * source.lognormvariate(0, 0.35))
    seconds = min(2699.0, MEDIAN_TIME[stack] * source.lognormvariate(0, 0.3))
    return a_row(
        task,
        stack,
        agent,
        repeat,
        passed=passed,
        cost=f"{cost:.4f}",
        seconds=round(seconds, 1),
        metrics={
            "tool_calls": measured(source.randint(12, 120)),
            "interventions": measured(source.choice((0, 0, 0, 1, 2))),
            "repair_rounds": measured(source.randint(0, 6)),
            "input_uncached": measured(source.randint(8_000, 40_000)),
            "cache_read": measured(source.randint(100_000, 900_000)),
            "cache_write_5m": measured(source.randint(5_000, 60_000)),
            "cache_write_1h": not_measured("this provider has no 1-hour cache"),
            "output": measured(source.randint(3_000, 20_000)),
            "reasoning": not_measured("not reported apart"),
        },
    )


def _infra(row: dict[str, Any], reason: str) -> None:
    row |= {
        "outcome": "fail",
        "cause": "infra",
        "reasons": [reason],
        "checks": [],
        "security": {"ran": False, "flags": [], "reason": "the final state was not graded"},
    }


def _rerun(found: dict[tuple[str, int], dict[str, Any]], run: str, reason: str) -> dict[str, Any]:
    """Turn the first attempt into an infra failure, and give its outcome to a second one."""
    first = found[run, 1]
    second: dict[str, Any] = json.loads(json.dumps(first)) | {"attempt": 2}
    found[run, 2] = second
    _infra(first, reason)
    return second


def _awkward(found: dict[tuple[str, int], dict[str, Any]]) -> None:
    # Two of the thirty passing runs of one stack reported no cost.
    for run in ("AB-T01-S2-A1-r1", "AB-T03-S2-A2-r2"):
        found[run, 1]["metrics"]["cost_usd"] = not_measured("the stream was cut before its usage")
    # Confirmed: the rerun scores. Refused: the first attempt scores, as a fail of the task.
    _rerun(found, "AB-T01-S2-A2-r1", "NodeLost")
    refused = _rerun(found, "AB-T02-S3-A1-r5", "ServiceDied")
    refused |= {"outcome": "pass", "cause": None, "reasons": []}
    # Nobody has judged the label yet: the rerun scores provisionally.
    _rerun(found, "AB-T03-S3-A1-r2", "ProviderOutage")
    # Infra twice: there is no third attempt, the cell is incomplete.
    _infra(_rerun(found, "AB-T01-S4-A3-r4", "Evicted"), "Evicted")
    # Ended by a person: the cell is incomplete.
    found["AB-T03-S4-A1-r3", 1] |= {
        "outcome": "aborted",
        "cause": None,
        "reasons": [],
        "checks": [],
    }
    # A fourth intervention, and a cost cap hit by a run whose checks all pass.
    fourth = found["AB-T03-S1-A1-r5", 1]
    fourth |= {"cause": "intervention", "reasons": ["Interventions"], "capsHit": ["interventions"]}
    fourth["metrics"]["interventions"] = measured(4)
    capped = found["AB-T02-S1-A2-r5", 1]
    capped |= {"cause": "cap", "reasons": ["CapCost"], "capsHit": ["cost"]}
    capped["metrics"]["cost_usd"] = measured("5.4000")
    for check in capped["checks"]:
        check |= {"verdict": "pass", "exitCode": 0}
    # A crash, a check that disagrees with itself, and an app that does not start.
    found["AB-T01-S4-A1-r1", 1]["reasons"] = ["AgentCrash", "CheckFailed"]
    flaky = found["AB-T01-S3-A1-r5", 1]
    flaky["reasons"] = ["CheckFlaky", "CheckFailed"]
    flaky["checks"][0] |= {"verdict": "pass", "exitCode": 0}
    found["AB-T02-S4-A2-r2", 1]["reasons"] = ["AppNotStarted"]
    # Security: refused by the adjudicator, confirmed, and not yet judged.
    found["AB-T02-S1-A1-r2", 1]["security"] = a_flag()
    found["AB-T02-S2-A2-r1", 1]["security"] = a_flag("unsigned-webhook", "webhook-signature")
    found["AB-T03-S3-A3-r1", 1]["security"] = a_flag("secret-exposed", "secret-in-log")
    # A trace that was withheld.
    found["AB-T01-S3-A2-r1", 1]["artifacts"] = {
        "trajectory.json": {
            "key": f"{CAMPAIGN}/artifacts/AB-T01-S3-A2-r1/1/trajectory.json",
            "sha256": "sha256:" + "0" * 64,
            "size": 0,
            "truncated": False,
            "withheld": "a secret was left after redaction",
        }
    }
    # Kept out: calibration, a draft row, another digest.
    outside: dict[str, dict[str, Any]] = {
        "AB-T01-S1-A1-c1": {"phase": "calibration"},
        "AB-T01-S2-A1-c1": {"phase": "calibration", "outcome": "fail", "cause": "task"},
        "AB-T01-S1-A1-d1": {"draft": True},
        "AB-T01-S1-A1-x1": {"digest": "sha256:" + "e" * 64},
    }
    for name, changes in outside.items():
        found[name, 1] = a_row() | {"run": name} | changes


def adjudications(documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every failure is judged but two, and every flag but one."""
    special: dict[tuple[str, int], dict[str, Any]] = {
        ("AB-T01-S2-A2-r1", 1): {"cause": "infra", "reason": "the node's log shows the loss"},
        ("AB-T02-S3-A1-r5", 1): {"cause": "task", "reason": "the agent stopped the database"},
        ("AB-T01-S4-A3-r4", 1): {"cause": "infra"},
        ("AB-T01-S4-A3-r4", 2): {"cause": "infra"},
        ("AB-T02-S1-A1-r2", 1): {"cause": None, "security": [], "reason": "the tenant is shared"},
        ("AB-T02-S2-A2-r1", 1): {"cause": None, "security": ["webhook-signature"]},
    }
    unread = {("AB-T03-S3-A1-r2", 1), ("AB-T03-S4-A3-r5", 1)}
    found: list[dict[str, Any]] = []
    count: dict[str, int] = {}
    for row in documents:
        key = (row["run"], row["attempt"])
        changes = special.get(key)
        if changes is None:
            kept_out = row["draft"] or row["phase"] != "sample" or "-x" in row["run"]
            if row["outcome"] != "fail" or key in unread or kept_out:
                continue
            changes = {"cause": row["cause"]}
        count[row["run"]] = count.get(row["run"], 0) + 1
        entry = an_adjudication(row["run"], None, attempt=row["attempt"], seq=count[row["run"]])
        found.append(entry | changes)
    return found


def published() -> dict[str, bytes]:
    """Every published file, from the rows as they are generated."""
    spec = spec_from_campaign(campaign(), campaign=CAMPAIGN)
    documents = rows()
    results = analyse(
        spec, row_documents(documents), adjudication_documents(adjudications(documents))
    )
    return files(results)


def sources() -> dict[str, bytes]:
    """The campaign, its rows and its adjudications, as files."""
    documents = rows()
    return {
        "campaign.json": (json.dumps(campaign(), indent=1) + "\n").encode(),
        "rows.jsonl": _lines(documents),
        "adjudications.jsonl": _lines(adjudications(documents)),
    }


def _lines(documents: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(each, separators=(",", ":")) + "\n" for each in documents).encode()


def main() -> None:
    """Write everything."""
    for name, data in sources().items():
        (HERE / name).write_bytes(data)
    for name, data in published().items():
        path = HERE / "published" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


if __name__ == "__main__":
    main()
