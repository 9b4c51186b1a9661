"""The port through which the warden starts and stops an agent, wherever that agent lives."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Protocol

from agentbench.agents.port import Invocation


class ProcessError(RuntimeError):
    """The agent's sandbox refused a request, or is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sandbox:
    """What the sandbox says it can do.

    `pid_namespace`: killing reaches every process, whatever it did to escape. `private_root`:
    root-owned files are seen by this sandbox alone. `network`: loopback or host.
    """

    pid_namespace: bool
    private_root: bool
    network: str


@dataclass(frozen=True, slots=True)
class Exit:
    """How a process ended: one of exit code and signal is set."""

    code: int | None = None
    signal: int | None = None


class AgentProcess(Protocol):
    """One agent at a time, in its own sandbox. Everything raises ProcessError."""

    async def connect(self) -> Sandbox:
        """Reach the sandbox and ask what it can do."""

    async def start(self, invocation: Invocation) -> None:
        """Write the invocation's files and start its process; standard input is /dev/null."""

    def output(self) -> AsyncIterator[bytes]:
        """The bytes of its standard output, in chunks, until it has ended."""

    def errors(self) -> AsyncIterator[bytes]:
        """The bytes of its standard error, in chunks, until it has ended."""

    async def interrupt(self) -> None:
        """Send SIGINT to the agent's main process."""

    async def kill(self) -> None:
        """End every process in the agent's sandbox that the invocation left."""

    async def wait(self) -> Exit:
        """Wait until the agent's main process has ended."""

    async def close(self) -> None:
        """Leave the sandbox: what still lives in it ends."""
