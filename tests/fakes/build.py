"""Builders: a valid thing by default, with what a test is about named in the call."""

from typing import Any

from agentbench.api.campaign import CampaignSpec
from agentbench.core.summary import Ending, Summary
from agentbench_analysis.rows.model import Check, Security
from agentbench_analysis.rows.words import CheckVerdict


def a_campaign(
    *,
    tasks: int = 2,
    stacks: int = 2,
    agents: int = 2,
    repeats: int = 3,
    plugins: int = 0,
    prefix: str = "QS-",
    **spec: Any,
) -> CampaignSpec:
    """A small campaign; further keywords replace fields of its spec (camelCase, JSON values)."""
    document: dict[str, Any] = {
        "protocol": {"id": f"{prefix}PROTO-1", "draft": True},
        "tasks": [
            {
                "id": f"{prefix}T{n:02d}",
                "name": f"Task {n}",
                "prompt": {"path": f"tasks/t{n:02d}.md"},
                "check": {"path": f"checks/t{n:02d}.py"},
            }
            for n in range(1, tasks + 1)
        ],
        "stacks": [{"id": f"{prefix}S{n}", "name": f"Stack {n}"} for n in range(1, stacks + 1)],
        "agents": [
            {"id": f"{prefix}A{n}", "name": f"Agent {n}", "adapter": "nop"}
            for n in range(1, agents + 1)
        ],
        "plugins": [
            {"id": f"P{n}", "name": f"Plugin {n}", "path": {"path": f"plugins/p{n}"}}
            for n in range(1, plugins + 1)
        ],
        "repeats": repeats,
        "order": {"seed": 7},
        "analysis": {"referenceStack": f"{prefix}S1"},
    }
    return CampaignSpec.model_validate(document | spec)


def a_summary(ending: Ending = Ending.FINISHED, **fields: Any) -> Summary:
    """What the warden says of an agent that finished by itself, unless told otherwise."""
    return Summary(run="QS-T01-S1-A1-r1", attempt=1, ending=ending, exit_code=0, **fields)


def checks(*verdicts: CheckVerdict) -> tuple[Check, ...]:
    """One execution per verdict, numbered from 1."""
    return tuple(Check(repeat=n, verdict=v) for n, v in enumerate(verdicts, start=1))


CLEAN = Security(ran=True)
"""A security check that ran and found nothing."""
