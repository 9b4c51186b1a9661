"""What a warden is told of a run: put together here for one machine and for a cluster alike."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from agentbench.api.base import seconds
from agentbench.api.campaign import CampaignSpec
from agentbench.api.factors import Agent, Provider
from agentbench.core.bundle import PROTOCOL_LAYER, SCRIPTS_LAYER
from agentbench.core.plan import PlannedRun
from agentbench_analysis.rows.model import Cell

WARDEN_SCHEMA = "agentbench.warden/v1"
VENDORS: Mapping[str, str] = {
    "anthropic": "https://api.anthropic.com",
    "openai": "https://api.openai.com",
}
NO_PRICES = (
    '{"schema": "agentbench.prices/v1", "currency": "USD", "perTokens": 1000000, '
    '"models": {"none": {"input": "0", "output": "0", "source": "no model", "date": "2026-01-01"}}}'
)
"""For an agent that calls no model: the warden wants a price list all the same."""

ReadFile = Callable[[str, str], str]
"""Gives the text of a file of the bundle, by layer and path; it raises what its place raises."""


class BriefError(ValueError):
    """A run cannot be told to a warden; the message names agent, file and cure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Whereabouts:
    """What is the place's and not the protocol's.

    Attributes:
        agent: folders, addresses and variables as the agent's sandbox sees them.
        upstreams: where model calls go, by provider's API; and `proxy`, if there is one.
        listen: where the warden's two servers listen.
        control: the way to the agent's sandbox.
        output: folder for the record.
        solution: where the reference solution lies for an oracle, as the agent sees it.
    """

    agent: Mapping[str, Any]
    upstreams: Mapping[str, Any]
    listen: Mapping[str, Any]
    control: str
    output: str
    solution: str = ""


def brief(
    spec: CampaignSpec, run: PlannedRun, attempt: int, read: ReadFile, place: Whereabouts
) -> dict[str, Any]:
    """The warden's configuration (`agentbench.warden/v1`) for one attempt.

    Raises:
        BriefError: the agent's script is missing or no script.
    """
    agent = next(agent for agent in spec.agents if agent.id == run.cell.agent)
    task = next(task for task in spec.tasks if task.id == run.cell.task)
    caps = spec.caps
    return {
        "schema": WARDEN_SCHEMA,
        "run": run.id,
        "attempt": attempt,
        "agent": {
            "adapter": agent.adapter,
            "name": agent.id,
            "version": agent.version,
            "model": agent.model,
            "settings": adapter_settings(agent, run.cell, read, place.solution),
        },
        "place": dict(place.agent),
        "prompt": read(PROTOCOL_LAYER, task.prompt.path),
        "reply": spec.script.reply,
        "caps": {
            "wallSeconds": seconds(caps.wall),
            "costUsd": caps.cost_usd,
            "toolCalls": caps.tool_calls,
            "interventions": caps.interventions,
        },
        "prices": NO_PRICES if agent.provider is None else read(PROTOCOL_LAYER, spec.prices),
        "upstreams": dict(place.upstreams),
        "listen": dict(place.listen),
        "control": place.control,
        "output": place.output,
    }


def adapter_settings(agent: Agent, cell: Cell, read: ReadFile, solution: str) -> dict[str, Any]:
    """What the adapter is started with: the protocol's settings, and what a built-in agent needs.

    Raises:
        BriefError: a scripted agent has no script for the cell, or what is there is none.
    """
    settings: dict[str, Any] = dict(agent.settings)
    if agent.adapter == "oracle":
        settings["solution"] = solution
    if agent.adapter == "scripted":
        settings["steps"] = _steps(agent, cell, read)
    return settings


def usual_address(provider: Provider) -> str:
    """Where a provider's calls go: its own address, or its vendor's; no slash at the end."""
    return (provider.base_url or VENDORS[provider.api]).rstrip("/")


def mock_script(agent: Agent, read: ReadFile) -> tuple[str, str] | None:
    """Path and text of the mock provider's script that stands in for the model; None without."""
    if agent.provider is None or agent.provider.mock is None:
        return None
    path = agent.provider.mock.path
    return path, read(SCRIPTS_LAYER, path)


def _steps(agent: Agent, cell: Cell, read: ReadFile) -> Any:
    """The steps of a scripted agent, in YAML or JSON: the file's list, or its `steps`."""
    where = f"{cell.task}/{cell.stack}"
    ref = agent.scripts.get(where, agent.script)
    if ref is None:
        raise BriefError(f"agent {agent.id} has no script for {where}: add one under its `scripts`")
    try:
        document = yaml.safe_load(read(SCRIPTS_LAYER, ref.path))
    except yaml.YAMLError as error:
        raise BriefError(f"{ref.path}: neither YAML nor JSON: {error}") from error
    return document.get("steps") if isinstance(document, dict) else document
