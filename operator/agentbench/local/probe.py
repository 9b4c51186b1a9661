"""Finds out what this machine allows: isolation, services, clock."""

import asyncio
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from agentbench.agents.registry import ADAPTERS
from agentbench.api.factors import Agent, Stack
from agentbench.local.isolation import Isolation
from agentbench.local.place import AGENT_UID, Machine
from agentbench.local.sandbox import SOURCE, Command, Sandbox, SandboxError, SandboxSpec
from agentbench.local.services.kinds import ServiceUnavailable, kind_of

_TIMEOUT = 20.0


async def why_not(isolation: Isolation) -> str | None:
    """Why a kind of isolation does not work here; None if it does."""
    machine = Machine(isolation=isolation)
    with tempfile.TemporaryDirectory(prefix="ab-probe-") as place:
        spec = SandboxSpec(
            isolation=isolation, name="probe", view=machine.view(()), place=Path(place)
        )
        try:
            sandbox = await Sandbox.start(spec)
        except SandboxError as error:
            return str(error)
        try:
            command = Command(
                argv=("true",), env={"PATH": machine.path}, cwd="/", uid=AGENT_UID, gid=AGENT_UID
            )
            ended, log = await sandbox.run(command, _TIMEOUT)
            if ended is None or ended.code != 0:
                return f"a first program did not run: {log.text()}"
        except SandboxError as error:
            return str(error)
        finally:
            await sandbox.close()
    return None


async def best_isolation(order: Sequence[Isolation] = tuple(Isolation)) -> Isolation:
    """The best isolation that works here; a process group always does."""
    for isolation in order:
        if await why_not(isolation) is None:
            return isolation
    return Isolation.PROCESS_GROUP


def missing_services(stacks: Iterable[Stack]) -> list[str]:
    """Why services that these stacks declare cannot run here, each with its cure."""
    missing = []
    for stack in stacks:
        for service in stack.services:
            try:
                kind_of(service.kind, SOURCE)
            except ServiceUnavailable as error:
                missing.append(f"stack {stack.id}, service {service.name}: {error}")
    return missing


def programs(agent: Agent, path: str) -> dict[str, str | None]:
    """Where each program that an agent is started with lies on a sandbox's PATH; None: nowhere."""
    adapter = ADAPTERS.get(agent.adapter)
    return {name: shutil.which(name, path=path) for name in (adapter.programs if adapter else ())}


def missing_programs(agents: Iterable[Agent], path: str) -> list[str]:
    """Why agents cannot be started here, each with its cure."""
    return [
        f"agents {agent.id}: {name} is not on the PATH of a run ({path}): install it there, or "
        "show the folder that holds it with --show"
        for agent in agents
        for name, found in programs(agent, path).items()
        if found is None
    ]


def best_isolation_now() -> Isolation:
    """The same for a caller without an event loop."""
    return asyncio.run(best_isolation())
