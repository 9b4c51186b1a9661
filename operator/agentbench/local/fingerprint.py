"""What a row says of the machine that an attempt ran on, and of the versions it ran with."""

import os
import platform
from functools import cache

from agentbench import __version__
from agentbench.api.campaign import CampaignSpec
from agentbench.core.plan import PlannedRun
from agentbench.local import clock
from agentbench.local.isolation import Isolation


def environment(isolation: Isolation) -> dict[str, str]:
    """The environment's fingerprint."""
    return {
        "place": "local",
        "isolation": isolation.value,
        "kernel": platform.release(),
        "architecture": platform.machine(),
        "cpus": str(os.cpu_count() or 0),
        "memoryMiB": str(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20),
        "system": _system(),
        "python": platform.python_version(),
        "clock": "libfaketime" if clock.library() else "none",
    }


def versions(spec: CampaignSpec, run: PlannedRun) -> dict[str, str]:
    """The pins of stack and agent, and this project's version."""
    stack = next(stack for stack in spec.stacks if stack.id == run.cell.stack)
    agent = next(agent for agent in spec.agents if agent.id == run.cell.agent)
    named = {
        "agentBench": __version__,
        "adapter": agent.adapter,
        "agent": agent.version,
        "model": agent.model,
        "stack": stack.version,
    }
    return {name: value for name, value in named.items() if value}


@cache
def _system() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
    except OSError:
        return platform.system()
