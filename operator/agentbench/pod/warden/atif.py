"""Writes a run as an ATIF v1.7 trajectory, step by step, without holding it in memory."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from agentbench.core.summary import Measure
from agentbench.pod.warden.steps import Steps

VERSION = "ATIF-v1.7"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrajectoryHead:
    """What a trajectory says of the run as a whole."""

    run: str
    attempt: int
    session: str | None
    agent: str
    version: str
    model: str | None
    metrics: Mapping[str, Measure]
    extra: Mapping[str, Any] = field(default_factory=dict)


def write_trajectory(
    path: Path, head: TrajectoryHead, main: Steps, subagents: Mapping[str, Steps]
) -> bool:
    """Write the trajectory; whether anything was cut or left out."""
    agent: dict[str, Any] = {"name": head.agent, "version": head.version or "unknown"}
    if head.model:
        agent["model_name"] = head.model
    with path.open("w", encoding="utf-8") as out:
        out.write('{"schema_version":' + json.dumps(VERSION))
        if head.session is not None:
            out.write(',"session_id":' + json.dumps(head.session))
        out.write(',"trajectory_id":' + json.dumps(f"{head.run}/{head.attempt}"))
        out.write(',"agent":' + json.dumps(agent))
        count = _write_steps(out, main)
        every = (main, *subagents.values())
        left_out = sum(steps.left_out for steps in every)
        if subagents:
            _write_subagents(out, agent, subagents)
        out.write(',"final_metrics":' + json.dumps(_final(head.metrics, count)))
        if left_out:
            out.write(f',"notes":"{left_out} steps left out: the trajectory was too long"')
        out.write(',"extra":' + json.dumps(dict(head.extra)) + "}\n")
    return any(steps.truncated for steps in every)


def _write_steps(out: TextIO, steps: Steps) -> int:
    out.write(',"steps":[')
    count = 0
    for step in steps.finish():
        out.write(("," if count else "") + json.dumps(step, separators=(",", ":")))
        count += 1
    if not count:
        # The format knows no trajectory without steps.
        empty = {"step_id": 1, "source": "system", "message": "the agent did nothing"}
        out.write(json.dumps(empty))
    out.write("]")
    return count


def _write_subagents(out: TextIO, agent: Mapping[str, Any], all_steps: Mapping[str, Steps]) -> None:
    out.write(',"subagent_trajectories":[')
    for number, (name, steps) in enumerate(all_steps.items()):
        out.write("," if number else "")
        out.write('{"schema_version":' + json.dumps(VERSION))
        out.write(',"trajectory_id":' + json.dumps(name) + ',"agent":' + json.dumps(agent))
        _write_steps(out, steps)
        out.write("}")
    out.write("]")


def _final(metrics: Mapping[str, Measure], steps: int) -> dict[str, Any]:
    """Totals of the run. What is not known is left out: it is never 0."""

    def known(name: str) -> int | None:
        value = metrics[name].value if name in metrics else None
        return value if isinstance(value, int) else None

    names = ("input_uncached", "cache_read", "cache_write_5m", "cache_write_1h")
    parts = [known(name) for name in names]
    counts = [part for part in parts if part is not None]
    totals = {
        "total_prompt_tokens": sum(counts) if len(counts) == len(names) else None,
        "total_completion_tokens": known("output"),
        "total_cached_tokens": known("cache_read"),
        "total_cost_usd": _cost(metrics),
        "total_steps": steps,
    }
    writes = [part for part in parts[2:] if part is not None]
    extra = {"total_cache_creation_input_tokens": sum(writes)} if len(writes) == 2 else None
    final = {name: value for name, value in totals.items() if value is not None}
    return final if extra is None else {**final, "extra": extra}


def _cost(metrics: Mapping[str, Measure]) -> float | None:
    value = metrics["cost_usd"].value if "cost_usd" in metrics else None
    return float(value) if isinstance(value, str) else None
