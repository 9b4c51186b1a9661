"""The ports between the harness API and whatever runs the app and its services."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from agentbench.api.factors import Stack
from agentbench.pod.bounded import BoundedLog
from agentbench.pod.process import Exit


class AppNotStarted(RuntimeError):
    """The app did not come up by the stack's own commands; the message has its last words."""


class ServiceDied(RuntimeError):
    """A service did not start or ended by itself; the message has its last words."""


class NoClock(RuntimeError):
    """The app's clock cannot be moved here; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class Ran:
    """How one of the stack's commands ended; `exit` None means that its time ran out."""

    exit: Exit | None
    log: BoundedLog

    @property
    def ok(self) -> bool:
        """Whether it ended with 0."""
        return self.exit is not None and self.exit.code == 0

    @property
    def told(self) -> str:
        """Its end in words, with what it printed last."""
        if self.exit is None:
            end = "ran out of time"
        elif self.exit.signal is not None:
            end = f"was ended by signal {self.exit.signal}"
        else:
            end = f"exited with {self.exit.code}"
        return f"{end}: {self.log.text()}".rstrip(": ")


class AppPort(Protocol):
    """The app under test."""

    @property
    def stack(self) -> Stack:
        """What its stack declares."""

    @property
    def workspace(self) -> Path:
        """Its files, as the harness sees them."""

    async def start(self) -> None:
        """Start it and wait until it is healthy; AppNotStarted if it is not in time."""

    async def stop(self) -> None:
        """End everything of it."""

    async def restart(self) -> None:
        """Stop and start; AppNotStarted if it does not come up again."""

    async def run(self, name: str) -> Ran:
        """Run the stack's `build`, `migrate` or `test`; KeyError if there is none."""

    async def empty(self) -> None:
        """Stop it and empty its DATA_DIR."""

    def printed(self) -> bytes:
        """What it has logged so far, within bounds."""

    def set_clock(self, text: str) -> float:
        """Move its clock; the offset in seconds. ValueError or NoClock if that cannot be."""


class ServicesPort(Protocol):
    """The services beside the app."""

    async def reset(self) -> None:
        """Empty them all; ServiceDied if one does not answer."""

    async def model_calls(self) -> bytes | None:
        """What the mock model server was asked, as JSON; None if there is none."""
