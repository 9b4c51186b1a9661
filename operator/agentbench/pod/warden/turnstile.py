"""Lets model calls out, first come first served, as the cost gate says."""

import asyncio
from collections import deque
from collections.abc import Callable
from decimal import Decimal

from agentbench.core.gate import CostGate, Verdict
from agentbench.core.pricing import dollars


class Refused(RuntimeError):
    """The meter does not let this call out; the text says why."""


class Turnstile:
    """Holds the cost gate's state, and the calls that wait at it.

    `on_exhausted` is called when a call asks to go out at or over the cap; it must close this.
    """

    def __init__(self, cap: Decimal | None, on_exhausted: Callable[[], None]) -> None:
        self.gate = CostGate(cap)
        self.closed: str | None = None
        self._on_exhausted = on_exhausted
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def waiting(self) -> int:
        """Calls that wait."""
        return len(self._waiting)

    @property
    def exhausted(self) -> str:
        """How much of the cap is spent, in words."""
        cap = self.gate.cap or Decimal(0)
        return (
            f"run budget exhausted: {dollars(self.gate.spent)} of {dollars(cap)} US dollars spent"
        )

    async def enter(self) -> None:
        """Wait until one call may go out; it is then counted as out.

        Raises:
            Refused: no call may go out any more.
        """
        if not self._waiting and self._decide():
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        self.admit()
        try:
            await turn
        except asyncio.CancelledError:
            # The turn may have come in the very moment in which its call was given up.
            if not turn.cancelled() and turn.exception() is None:
                self.give_back()
            raise

    def back(self, cost: Decimal) -> None:
        """Count a call that came back; `admit` then lets the next ones out."""
        self.gate = self.gate.back(cost)

    def give_back(self) -> None:
        """Take a call that was let out as never sent."""
        self.gate = self.gate.unsent()
        self.admit()

    def close(self, reason: str) -> None:
        """Let nothing out any more; the first reason given stays."""
        if self.closed is None:
            self.closed = reason
        self.admit()

    def admit(self) -> None:
        """Let those that wait go out, in order of arrival, as far as the gate allows."""
        while self._waiting:
            turn = self._waiting[0]
            if turn.done():
                self._waiting.popleft()
                continue
            try:
                if not self._decide():
                    return
                turn.set_result(None)
            except Refused as refusal:
                # Closing may have answered this one already.
                if not turn.done():
                    turn.set_exception(refusal)

    def _decide(self) -> bool:
        """Let one call out if it may go now; Refused if none may any more."""
        if self.closed is None and self.gate.decide() is Verdict.REFUSE:
            self._on_exhausted()
        if self.closed is not None:
            raise Refused(self.closed)
        if self.gate.decide() is Verdict.WAIT:
            return False
        self.gate = self.gate.out()
        return True
