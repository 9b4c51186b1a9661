"""What the operator holds of a campaign of 10,000 recorded runs, and what learning it costs.

    python -m bench.operator_memory [RUNS]

The API server's part, ten to twenty pages of JSON, is left out: what is measured is reading them
into the ledger, the plan, and one decision. Prints MiB beyond the imports, processor seconds to
load, and milliseconds per decision.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.operator_watch import rss
from tests.fakes.build import a_campaign

from agentbench.app.campaign import Campaign
from agentbench.app.ledger import Ledger
from agentbench.core.plan import PlannedRun, plan


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    before = rss()
    spec = a_campaign(tasks=10, stacks=5, agents=2, repeats=runs // 100, parallelism=200)
    campaign = Campaign(
        name="c", namespace="n", uid="u", generation=1, spec=spec, digest="", runs=plan(spec)
    )
    began = time.process_time()
    ledger = asyncio.run(Ledger.load(campaign, _objects(campaign.runs[:-200])))
    loaded = time.process_time() - began
    began = time.process_time()
    for _ in range(100):
        ledger.standing.decide(campaign.limits, (), suspend=False, cancel=False)
    each = (time.process_time() - began) * 10
    print(f"{rss() - before:.0f} MiB, {loaded:.2f} s, {each:.2f} ms")


async def _objects(runs: tuple[PlannedRun, ...]) -> AsyncIterator[dict[str, Any]]:
    """Run objects as a list gives them, each freshly parsed."""
    for run in runs:
        yield json.loads(json.dumps(_object(run)))


def _object(run: PlannedRun) -> dict[str, Any]:
    attempt = {
        "number": 1,
        "phase": "Recorded",
        "pod": f"{run.id.lower()}-a1-0123456789ab",
        "podUid": "01234567-89ab-cdef-0123-456789abcdef",
        "node": "simulated-0",
        "startedAt": "2026-11-30T12:00:00Z",
        "endedAt": "2026-11-30T12:01:00Z",
        "costUSD": "0.01",
        "toolCalls": 3,
        "outcome": "pass",
        "rowKey": f"scale/rows/{run.id}/1.json",
        "rowSha256": "sha256:" + "0" * 64,
    }
    return {
        "metadata": {
            "name": f"{run.id.lower()}-0123456789ab",
            "uid": "01234567-89ab-cdef-0123-456789abcdef",
            "creationTimestamp": "2026-11-30T12:00:00Z",
        },
        "spec": {"run": run.id},
        "status": {"phase": "Recorded", "attempts": [attempt]},
    }


if __name__ == "__main__":
    main()
