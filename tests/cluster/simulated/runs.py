"""Campaigns whose pods go to simulated nodes: what their packs, wardens and checks say.

All that the operator reads of a run is there as in a real one: phases, the warden's summary, the
checks' verdicts. What pods would do by themselves (agents, uploads, checks) is not.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.cluster.simulated.kubelet import NODE_CLASS, TOLERATION
from tests.fakes.local_pack import TinyPack

from agentbench.core.summary import Ending, StoredFile, Summary
from agentbench.core.tally import measured
from agentbench.pod.verdict import CheckTermination
from agentbench_analysis.rows.words import CheckVerdict

SHA = "sha256:" + "0" * 64
STORED = ("trajectory.json", "usage.jsonl", "final.diff")
LONG_ERROR = 'Usage of EmptyDir volume "workspace" exceeds the limit "1Gi". '.ljust(4096, "x")
"""Kubelet's words for an agent that filled its disk, as long as an error may get."""


def pack(folder: Path, *, tasks: int = 1, stacks: int = 1, agents: int = 1) -> TinyPack:
    """A pack of so many cells; its seeds, prompts and checks are those of the tiny one."""
    found = TinyPack(folder=folder, agents={f"A{n}": "nop" for n in range(1, agents + 1)})
    document = found.document()
    (task,), (stack,) = document["tasks"], document["stacks"]
    for name in ("seeds", "solutions"):
        task.pop(name)
    found.spec |= {
        "tasks": [{**task, "id": f"T{n}"} for n in range(1, tasks + 1)],
        "stacks": [{**stack, "id": f"S{n}"} for n in range(1, stacks + 1)],
    }
    return found


def spec(repeats: int, parallelism: int, **rest: Any) -> dict[str, Any]:
    """Fields of a campaign on simulated nodes: few checks, and pods that go at once."""
    small = {"cpu": "10m", "memory": "16Mi", "disk": "16Mi"}
    return {
        "repeats": repeats,
        "parallelism": parallelism,
        "ttlAfterRecorded": "0s",
        "nodeClass": {
            "selector": NODE_CLASS,
            "tolerations": [TOLERATION],
            "agent": small,
            "app": small,
            "service": small,
        },
        **rest,
    }


def script(*, seconds: float, failures: int, spread: float = 0.0) -> dict[str, Any]:
    """How pods go: of a hundred runs, `failures` fill their disk and are not graded."""
    return {
        "run_seconds": seconds,
        "run_spread": spread,
        "failures": failures,
        "failure_reason": "Evicted",
        "failure_message": LONG_ERROR,
        "messages": {"warden": _summary("final.tar.zst", *STORED), "check": _verdict()},
        "failure_messages": {"warden": _summary(*STORED)},
    }


def _summary(*names: str) -> str:
    said = Summary(
        run="{run}",
        attempt=1,
        ending=Ending.FINISHED,
        exit_code=0,
        metrics={
            "cost_usd": measured("0.01"),
            "tool_calls": measured(3),
            "wall_seconds": measured(1.0),
            "output": measured(100),
        },
        files={name: StoredFile(name=name, sha256=SHA, size=1000) for name in names},
    )
    return said.model_dump_json(by_alias=True, exclude_none=True)


def _verdict() -> str:
    said = CheckTermination(
        verdict=CheckVerdict.PASS, exit_code=0, seconds=0.5, report=SHA, size=100
    )
    return json.dumps(said.model_dump(mode="json", by_alias=True, exclude_none=True))
