"""The two gates that a run's calls pass: dollars and tool calls.

Cost, literally: a call goes out while measured spend is below the cap. The call that crosses it is
finished and counted; then nothing goes out. Nothing is refused on an estimate. Near the cap calls
go one at a time: a call waits while spend + (calls in flight + 1) x the dearest call so far would
pass the cap, so that two calls cannot cross it together.
"""

from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum


class Verdict(StrEnum):
    """What a gate says to a call that asks to go out."""

    GO = "go"
    WAIT = "wait"  # for a call in flight to come back, then ask again
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True)
class CostGate:
    """The cost gate's whole state, in US dollars; `cap` None means no limit."""

    cap: Decimal | None
    spent: Decimal = Decimal(0)
    in_flight: int = 0
    dearest: Decimal = Decimal(0)

    def decide(self) -> Verdict:
        """Say whether one more call may go out now."""
        if self.cap is None:
            return Verdict.GO
        if self.spent >= self.cap:
            return Verdict.REFUSE
        if self.in_flight and self.spent + (self.in_flight + 1) * self.dearest > self.cap:
            return Verdict.WAIT
        return Verdict.GO

    def out(self) -> "CostGate":
        """The state after a call went out."""
        return replace(self, in_flight=self.in_flight + 1)

    def back(self, cost: Decimal) -> "CostGate":
        """The state after a call came back and cost that much.

        Raises:
            ValueError: no call is out, or the cost is negative.
        """
        if self.in_flight < 1:
            raise ValueError("a call came back that never went out")
        if cost < 0:
            raise ValueError(f"a call cannot cost {cost}")
        return replace(
            self,
            spent=self.spent + cost,
            in_flight=self.in_flight - 1,
            dearest=max(self.dearest, cost),
        )

    def unsent(self) -> "CostGate":
        """The state after a call that was let out turned out not to be sent."""
        if self.in_flight < 1:
            raise ValueError("a call came back that never went out")
        return replace(self, in_flight=self.in_flight - 1)

    @property
    def overshoot(self) -> Decimal:
        """How far spend went over the cap."""
        if self.cap is None:
            return Decimal(0)
        return max(Decimal(0), self.spent - self.cap)


@dataclass(frozen=True, slots=True)
class ToolGate:
    """The tool-call gate's whole state; `cap` None means no limit."""

    cap: int | None
    allowed: int = 0
    refused: int = 0

    def ask(self) -> "ToolGate":
        """The state after one call asked: exactly `cap` calls are ever allowed."""
        if self.cap is not None and self.allowed >= self.cap:
            return replace(self, refused=self.refused + 1)
        return replace(self, allowed=self.allowed + 1)

    def seen(self, calls: int) -> "ToolGate":
        """The state after calls were seen that could not be asked for beforehand."""
        return replace(self, allowed=self.allowed + calls)

    @property
    def hit(self) -> bool:
        """Whether a call beyond the cap was asked for or seen."""
        return self.refused > 0 or (self.cap is not None and self.allowed > self.cap)
