"""The one place that holds a run's spend, counts and caps, and lets its model calls out."""

import time
from collections.abc import Callable, Sequence
from decimal import Decimal
from types import TracebackType
from typing import Protocol

from agentbench.agents.port import ToolCount
from agentbench.core.calls import CallEnd, CallStart, FinishedCall, charge
from agentbench.core.gate import ToolGate
from agentbench.core.pricing import PriceList
from agentbench.core.summary import Cap, Ending, Measure, ProviderEvidence
from agentbench.core.tally import Tally, measured, remember
from agentbench.pod.warden.ledger import Ledger, call_entry
from agentbench.pod.warden.turnstile import Refused, Turnstile
from agentbench_analysis.rows.words import Availability

__all__ = ["CallSlot", "Meter", "Observer", "Refused"]


class Observer(Protocol):
    """Is told of each ended call."""

    def call_finished(self, call: FinishedCall) -> None:
        """Take note of a call; must neither block nor raise."""


class Meter:
    """Counts and caps one run.

    `model` is the one that the protocol gives the agent. `on_cap` is called once for each cap, at
    the moment it is hit; `on_unpriced` when that model has no price, or when one without a price
    answered. After a cap of cost or tool calls, and after `close`, no further model call goes out.
    """

    def __init__(
        self,
        *,
        prices: PriceList,
        model: str | None = None,
        cost_cap: Decimal | None = None,
        tool_cap: int | None = None,
        tool_count: ToolCount = ToolCount.HOOK,
        ledger: Ledger | None = None,
        clock: Callable[[], float] = time.monotonic,
        observers: Sequence[Observer] = (),
    ) -> None:
        self.prices = prices
        self.on_cap: Callable[[Cap], None] = lambda cap: None
        self.on_unpriced: Callable[[str], None] = lambda model: None
        self._model = model
        self._refused_models: list[str] = []
        self._clock = clock
        self._began = clock()
        self._ledger = ledger or Ledger()
        self._observers = tuple(observers)
        self.turnstile = Turnstile(cost_cap, self._exhausted)
        self._tools = ToolGate(tool_cap)
        self._tool_count = tool_count
        self._tally = Tally()
        self._caps: list[Cap] = []

    def call(self, start: CallStart) -> "CallSlot":
        """One model call: `async with meter.call(start) as slot: ...; slot.settle(end)`.

        Entering waits for the gate, first come first served.

        Raises:
            Refused: on entering, when a cap is hit or the meter is closed.
        """
        return CallSlot(self, start)

    def allow_tool(self) -> bool:
        """Count one tool call that asks beforehand; False for each one beyond the cap."""
        before = self._tools
        self._tools = before.ask()
        if self._tools.refused > before.refused:
            self._hit(Cap.TOOL_CALLS, "tool-call cap reached")
            return False
        return True

    def close(self, reason: str) -> None:
        """Refuse every later model call, and those that wait. The first reason given stays."""
        self.turnstile.close(reason)

    def refused(self, path: str, status: int, reason: str) -> None:
        """Write down a request that the proxy refused."""
        self._ledger.refusal(
            {"at": self.elapsed, "path": path[:200], "status": status, "reason": reason[:500]}
        )

    def asked_unpriced(self, model: str) -> None:
        """Take note of a refused request for a model without a price.

        Only for the protocol's own model does that speak against the harness. Any other is the
        agent's choice, which must not make its run look like a failure of infrastructure.
        """
        if model == self._model:
            self._unpriced(model)
        else:
            remember(self._refused_models, model[:200])

    @property
    def elapsed(self) -> float:
        """Seconds since the meter began, of its monotonic clock."""
        return round(self._clock() - self._began, 6)

    @property
    def closed(self) -> str | None:
        """Why no call goes out any more; None while calls do."""
        return self.turnstile.closed

    @property
    def spent(self) -> Decimal:
        """US dollars so far, of the calls that have ended."""
        return self.turnstile.gate.spent

    @property
    def in_flight(self) -> int:
        """Calls that are out."""
        return self.turnstile.gate.in_flight

    @property
    def waiting(self) -> int:
        """Calls that wait at the cost gate."""
        return self.turnstile.waiting

    @property
    def caps_hit(self) -> tuple[Cap, ...]:
        """The caps that this meter saw hit, in order."""
        return tuple(self._caps)

    @property
    def models(self) -> tuple[str, ...]:
        """Model names that the API returned, in order of first sight."""
        return tuple(self._tally.models)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the record should know about the counting."""
        notes = [f"refused calls for {name}: no price" for name in self._refused_models]
        return (*notes, self._ledger.lost) if self._ledger.lost else tuple(notes)

    def evidence(self, ending: Ending) -> ProviderEvidence:
        """What was seen of the provider, given how the agent ended."""
        return self._tally.evidence(ending)

    def measures(self) -> dict[str, Measure]:
        """Every metric of the run by its canonical name."""
        allowed = self._tools.allowed
        tools = measured(allowed)
        if self._tool_count is ToolCount.PROXY:
            reason = "counted in the provider's answers: this agent has no pre-tool hook"
            tools = Measure(value=allowed, availability=Availability.DERIVED, reason=reason)
        return {
            **self._tally.measures(self.turnstile.gate.spent, self.turnstile.gate.overshoot),
            "tool_calls": tools,
        }

    def leave(self, start: CallStart, end: CallEnd | None) -> None:
        """Count a call that was out; `end` None says that it was never sent."""
        if end is None:
            self.turnstile.give_back()
            return
        charged = charge(start, end, self.prices)
        self.turnstile.back(charged.cost)
        self._tally.add(end, charged)
        call = FinishedCall(
            number=self._tally.calls, at=self.elapsed, start=start, end=end, charge=charged
        )
        self._ledger.call(call_entry(call, self.turnstile.gate.spent))
        if charged.unpriced is not None:
            self._unpriced(charged.unpriced)
            self.close(charged.reason or "no price")
        if self.turnstile.gate.overshoot:
            self._exhausted()
        if self._tool_count is ToolCount.PROXY and end.reading.tool_calls:
            self._tools = self._tools.seen(end.reading.tool_calls)
            if self._tools.hit:
                self._hit(Cap.TOOL_CALLS, "tool-call cap reached")
        for observer in self._observers:
            observer.call_finished(call)
        self.turnstile.admit()

    def _unpriced(self, model: str) -> None:
        if remember(self._tally.unpriced, model[:200]):
            self.on_unpriced(model)

    def _exhausted(self) -> None:
        self._hit(Cap.COST, self.turnstile.exhausted)

    def _hit(self, cap: Cap, reason: str) -> None:
        first = cap not in self._caps
        if first:
            self._caps.append(cap)
        self.close(reason)
        if first:
            self.on_cap(cap)


class CallSlot:
    """A model call's place in the meter, from the gate to the count.

    Call `settle` as soon as the call's end is known. One that is left without it was never sent.
    """

    def __init__(self, meter: Meter, start: CallStart) -> None:
        self.start = start
        self._meter = meter
        self._settled = False

    def settle(self, end: CallEnd) -> None:
        """Count the call; a second time changes nothing."""
        if not self._settled:
            self._settled = True
            self._meter.leave(self.start, end)

    async def __aenter__(self) -> "CallSlot":
        await self._meter.turnstile.enter()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self._settled:
            self._settled = True
            self._meter.leave(self.start, None)
